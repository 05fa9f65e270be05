package dev.mcpbridge.call;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
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

/**
 * Three tools instead of many: one finds tools, one describes one of them, and one calls it,
 * through the same gate as ever. For models that would read a large catalogue with every question.
 * Confined to its verticle; an index is made beside the event loop, once for each offer.
 */
public final class LeanDiscovery {
  private static final String SEARCH = "search_tools";
  private static final String DESCRIBE = "describe_tool";
  private static final String CALL = "call_tool";
  private static final int KEPT = 8;
  private static final int MAX_FOUND = 50;
  private static final int DEFAULT_FOUND = 10;
  private static final int SUMMARY = 200;

  /** The three, as their definitions are listed. */
  public static final List<Tool> TOOLS =
      List.of(
          tool(
              SEARCH,
              "Finds tools by what they do, by name or by parameter; the best first. Describe one"
                  + " before you call it.",
              "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"description\":"
                  + "\"What you want to do, in a few words\"},\"limit\":{\"type\":\"integer\","
                  + "\"minimum\":1,\"maximum\":50,\"description\":\"At most so many; 10 unless"
                  + " told\"}},\"required\":[\"query\"],\"additionalProperties\":false}",
              true),
          tool(
              DESCRIBE,
              "The full definition of a tool, with the schema of its arguments.",
              "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":"
                  + "\"As search_tools shows it\"}},\"required\":[\"name\"],"
                  + "\"additionalProperties\":false}",
              true),
          tool(
              CALL,
              "Calls a tool that search_tools has found, with arguments that fit its schema.",
              "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"arguments\":"
                  + "{\"type\":\"object\",\"description\":\"What describe_tool says that it"
                  + " takes\"}},\"required\":[\"name\"],\"additionalProperties\":false}",
              false));

  private final Vertx vertx;
  private final Map<ToolCatalogue, Future<ToolIndex>> indices =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ToolCatalogue, Future<ToolIndex>> eldest) {
          return size() > KEPT;
        }
      };

  public LeanDiscovery(Vertx vertx) {
    this.vertx = vertx;
  }

  /** A tool that was meant by a call of {@code call_tool}. */
  public record ResolvedCall(String name, Arguments arguments) {}

  public boolean isCall(String name) {
    return CALL.equals(name);
  }

  /**
   * @throws BridgeException INVALID_ARGUMENTS where no tool is named, TOOL_NOT_FOUND where none has
   *     the name
   */
  public ResolvedCall meant(ToolCatalogue toolCatalogue, Arguments given) {
    Map<String, JsonSlice> members = JsonObjects.members(given.json());
    JsonSlice arguments = members.getOrDefault("arguments", JsonSlice.EMPTY_OBJECT);
    if (!arguments.isObject()) {
      throw new BridgeException(ErrorCode.INVALID_ARGUMENTS, "arguments must be an object");
    }
    String name = name(members);
    place(toolCatalogue, name);
    return new ResolvedCall(name, Arguments.scanned(arguments, false));
  }

  /**
   * The result of one of the other two.
   *
   * @throws BridgeException INVALID_ARGUMENTS or TOOL_NOT_FOUND
   */
  public Future<JsonSlice> answer(ToolCatalogue toolCatalogue, String name, Arguments arguments) {
    Map<String, JsonSlice> members = JsonObjects.members(arguments.json());
    return switch (name) {
      case SEARCH -> search(toolCatalogue, arguments);
      case DESCRIBE -> Future.succeededFuture(result(place(toolCatalogue, name(members)).entry()));
      default ->
          throw new BridgeException(
              ErrorCode.TOOL_NOT_FOUND,
              "There is no tool '" + name + "' here; " + CALL + " calls what " + SEARCH + " finds");
    };
  }

  private Future<JsonSlice> search(ToolCatalogue toolCatalogue, Arguments arguments) {
    String query = arguments.tree().path("query").asText("");
    int limit = arguments.tree().path("limit").asInt(DEFAULT_FOUND);
    if (query.isBlank() || limit < 1 || limit > MAX_FOUND) {
      throw new BridgeException(
          ErrorCode.INVALID_ARGUMENTS, "query must be a text, and limit 1 to " + MAX_FOUND);
    }
    return indices
        .computeIfAbsent(
            toolCatalogue,
            o -> vertx.executeBlocking(() -> ToolIndex.of(tools(toolCatalogue)), false))
        .onFailure(failed -> indices.remove(toolCatalogue))
        .compose(index -> vertx.executeBlocking(() -> index.search(query, limit), false))
        .map(names -> found(toolCatalogue, names));
  }

  private static Map<String, Tool> tools(ToolCatalogue toolCatalogue) {
    Map<String, Tool> tools = new LinkedHashMap<>();
    toolCatalogue
        .toolsByName()
        .forEach(
            (name, toolLocation) ->
                tools.put(
                    name, toolLocation.server().catalogue().tools().get(toolLocation.name())));
    return tools;
  }

  private static JsonSlice found(ToolCatalogue toolCatalogue, List<String> names) {
    JsonWriter out = new JsonWriter(1024).beginObject().name("tools").beginArray();
    for (String name : names) {
      ToolCatalogue.ToolLocation toolLocation = toolCatalogue.toolsByName().get(name);
      Tool tool = toolLocation.server().catalogue().tools().get(toolLocation.name());
      out.beginObject().member("name", name).member("description", summary(tool)).endObject();
    }
    return result(out.endArray().endObject().toSlice());
  }

  private static String summary(Tool tool) {
    String text = tool.description().isEmpty() ? tool.title() : tool.description();
    return text.length() > SUMMARY ? text.substring(0, SUMMARY) + "…" : text;
  }

  private static ToolCatalogue.ToolLocation place(ToolCatalogue toolCatalogue, String name) {
    return toolCatalogue
        .tool(name)
        .orElseThrow(
            () ->
                new BridgeException(
                    ErrorCode.TOOL_NOT_FOUND,
                    "There is no tool '" + name + "'; " + SEARCH + " finds those that there are"));
  }

  private static JsonSlice result(JsonSlice structured) {
    return ToolResult.text(structured.text()).structured(structured).done();
  }

  private static String name(Map<String, JsonSlice> arguments) {
    String name = JsonObjects.string(arguments.get("name"));
    if (name == null) {
      throw new BridgeException(ErrorCode.INVALID_ARGUMENTS, "name must name a tool");
    }
    return name;
  }

  private static Tool tool(String name, String description, String schema, boolean readOnly) {
    JsonSlice input = JsonSlice.of(schema);
    JsonSlice definition =
        new JsonWriter(1024)
            .beginObject()
            .member("name", name)
            .member("description", description)
            .member("inputSchema", input)
            .name("annotations")
            .beginObject()
            .member("readOnlyHint", readOnly)
            .endObject()
            .endObject()
            .toSlice();
    return new Tool(name, "", description, definition, input, null, false, name);
  }
}
