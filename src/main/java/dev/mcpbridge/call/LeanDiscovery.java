package dev.mcpbridge.call;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.ToolResult;
import dev.mcpbridge.search.ToolIndex;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Three tools instead of many: one searches the tools, one describes a tool, and one calls it
 * through the same gate. For models that would otherwise read a large catalogue with every request.
 * Confined to its verticle; indices are built on a worker thread, once for each catalogue.
 */
public final class LeanDiscovery {
  private static final String SEARCH = "search_tools";
  private static final String DESCRIBE = "describe_tool";
  private static final String CALL = "call_tool";
  private static final int MAX_INDICES = 8;
  private static final int MAX_RESULTS = 50;
  private static final int DEFAULT_RESULTS = 10;
  private static final int MAX_SUMMARY_CHARS = 200;

  private static final JsonSlice DEFINITIONS =
      JsonSlice.of(
          """
          [{"name":"search_tools",\
          "description":"Searches the tools by purpose, name or parameter, best match first.\
           Describe a tool before you call it.",\
          "inputSchema":{"type":"object","properties":{\
          "query":{"type":"string","description":"What you want to do, in a few words"},\
          "limit":{"type":"integer","minimum":1,"maximum":50,\
          "description":"Maximum number of results; default 10"}},\
          "required":["query"],"additionalProperties":false},\
          "annotations":{"readOnlyHint":true}},\
          {"name":"describe_tool",\
          "description":"The full definition of a tool, with the schema of its arguments.",\
          "inputSchema":{"type":"object","properties":{\
          "name":{"type":"string","description":"As returned by search_tools"}},\
          "required":["name"],"additionalProperties":false},\
          "annotations":{"readOnlyHint":true}},\
          {"name":"call_tool",\
          "description":"Calls a tool that search_tools has found, with arguments that match its\
           schema.",\
          "inputSchema":{"type":"object","properties":{"name":{"type":"string"},\
          "arguments":{"type":"object",\
          "description":"Arguments that match the schema from describe_tool"}},\
          "required":["name"],"additionalProperties":false},\
          "annotations":{"readOnlyHint":false}}]""");

  /** The three tools. */
  public static final List<Tool> TOOLS =
      JsonObjects.elements(DEFINITIONS).stream().map(Tool::of).toList();

  private final Vertx vertx;
  private final Map<ToolCatalogue, Future<ToolIndex>> indices = new BoundedMap<>(MAX_INDICES);

  public LeanDiscovery(Vertx vertx) {
    this.vertx = vertx;
  }

  /** The tool and the arguments of a call of {@code call_tool}. */
  public record ResolvedCall(String name, Arguments arguments) {}

  public boolean isCall(String name) {
    return CALL.equals(name);
  }

  /**
   * @throws BridgeException INVALID_ARGUMENTS if no tool is named
   */
  public static ResolvedCall resolve(Arguments callArguments) {
    Map<String, JsonSlice> members = JsonObjects.members(callArguments.json());
    JsonSlice arguments = members.getOrDefault("arguments", JsonSlice.EMPTY_OBJECT);
    if (!arguments.isObject()) {
      throw new BridgeException(ErrorCode.INVALID_ARGUMENTS, "arguments must be an object");
    }
    return new ResolvedCall(name(members), Arguments.fromScanned(arguments, false));
  }

  /**
   * Runs {@code search_tools} or {@code describe_tool}.
   *
   * @throws BridgeException INVALID_ARGUMENTS or TOOL_NOT_FOUND
   */
  public Future<JsonSlice> answer(ToolCatalogue toolCatalogue, String name, Arguments arguments) {
    Map<String, JsonSlice> members = JsonObjects.members(arguments.json());
    return switch (name) {
      case SEARCH -> search(toolCatalogue, arguments);
      case DESCRIBE -> Future.succeededFuture(result(listed(toolCatalogue, name(members)).entry()));
      default ->
          throw new BridgeException(
              ErrorCode.TOOL_NOT_FOUND,
              "Unknown tool '" + name + "'; use " + CALL + " for tools that " + SEARCH + " finds");
    };
  }

  private Future<JsonSlice> search(ToolCatalogue toolCatalogue, Arguments arguments) {
    String query = arguments.tree().path("query").asText("");
    int limit = arguments.tree().path("limit").asInt(DEFAULT_RESULTS);
    if (query.isBlank() || limit < 1 || limit > MAX_RESULTS) {
      throw new BridgeException(
          ErrorCode.INVALID_ARGUMENTS,
          "query must be a non-empty string, and limit 1 to " + MAX_RESULTS);
    }
    return indices
        .computeIfAbsent(
            toolCatalogue,
            key -> vertx.executeBlocking(() -> ToolIndex.of(tools(toolCatalogue)), false))
        .onFailure(failed -> indices.remove(toolCatalogue))
        .compose(index -> vertx.executeBlocking(() -> index.search(query, limit), false))
        .map(names -> found(toolCatalogue, names));
  }

  private static Map<String, Tool> tools(ToolCatalogue toolCatalogue) {
    Map<String, Tool> tools = new LinkedHashMap<>();
    toolCatalogue.toolsByName().forEach((name, located) -> tools.put(name, located.tool()));
    return tools;
  }

  private static JsonSlice found(ToolCatalogue toolCatalogue, List<String> names) {
    JsonWriter out = new JsonWriter(1024).beginObject().name("tools").beginArray();
    for (String name : names) {
      String summary = summary(toolCatalogue.toolsByName().get(name).tool());
      out.beginObject().member("name", name).member("description", summary).endObject();
    }
    return result(out.endArray().endObject().toSlice());
  }

  private static String summary(Tool tool) {
    String text = tool.description().isEmpty() ? tool.title() : tool.description();
    return text.length() > MAX_SUMMARY_CHARS ? text.substring(0, MAX_SUMMARY_CHARS) + "…" : text;
  }

  private static ToolLocation listed(ToolCatalogue toolCatalogue, String name) {
    return Optional.ofNullable(toolCatalogue.toolsByName().get(name))
        .orElseThrow(() -> unknown(name));
  }

  /** The failure of a call of a tool that does not exist. */
  public static BridgeException unknown(String name) {
    return new BridgeException(
        ErrorCode.TOOL_NOT_FOUND,
        "Unknown tool '" + name + "'; use " + SEARCH + " to find the available tools");
  }

  private static JsonSlice result(JsonSlice structured) {
    return ToolResult.text(structured.text()).structured(structured).done();
  }

  private static String name(Map<String, JsonSlice> arguments) {
    String name = JsonObjects.string(arguments.get("name"));
    if (name == null) {
      throw new BridgeException(ErrorCode.INVALID_ARGUMENTS, "name must be the name of a tool");
    }
    return name;
  }
}
