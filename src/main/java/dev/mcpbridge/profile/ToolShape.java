package dev.mcpbridge.profile;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How a tool looks in a profile, and the way back: from the arguments of a caller to those of the
 * server. Immutable.
 *
 * @param name null for the name that it has without a shape
 * @param description null for that of the server
 * @param parameters those that differ from the server's, by name
 */
public record ToolShape(String name, String description, Map<String, Parameter> parameters) {
  private static final int MAX_NAMED = 20;

  /** As its server describes it. */
  public static final ToolShape PLAIN = new ToolShape(null, null, Map.of());

  /** The tool with this description and these parameters, still under the name of its server. */
  public Tool shaped(Tool tool) {
    if (description == null && parameters.isEmpty()) {
      return tool;
    }
    Map<String, JsonSlice> members = JsonObjects.members(tool.definition());
    if (description != null) {
      members.put("description", JsonObjects.quoted(description));
    }
    if (!parameters.isEmpty() && tool.inputSchema() != null) {
      members.put("inputSchema", shaped(tool.inputSchema()));
    }
    return Tool.of(JsonObjects.object(members));
  }

  private JsonSlice shaped(JsonSlice schema) {
    Map<String, JsonSlice> members = JsonObjects.members(schema);
    Map<String, JsonSlice> properties =
        JsonObjects.members(members.getOrDefault("properties", JsonSlice.EMPTY_OBJECT));
    parameters.forEach(
        (parameter, look) -> {
          if (look.isShown()) {
            properties.computeIfPresent(parameter, (same, property) -> shaped(property, look));
          } else {
            properties.remove(parameter);
          }
        });
    members.put("properties", JsonObjects.object(properties));
    List<JsonSlice> required = required(members);
    if (required.isEmpty()) {
      members.remove("required");
    } else {
      JsonWriter out = new JsonWriter().beginArray();
      required.forEach(out::value);
      members.put("required", out.endArray().toSlice());
    }
    return JsonObjects.object(members);
  }

  private static JsonSlice shaped(JsonSlice property, Parameter look) {
    if (!property.isObject()) {
      return property;
    }
    JsonSlice described =
        look.description() == null
            ? property
            : JsonObjects.with(property, "description", JsonObjects.quoted(look.description()));
    return look.value() == null ? described : JsonObjects.with(described, "default", look.value());
  }

  /** The names of parameters that callers still have to set. */
  private List<JsonSlice> required(Map<String, JsonSlice> schema) {
    return JsonObjects.elements(schema.getOrDefault("required", JsonSlice.NULL)).stream()
        .filter(each -> !isOptional(JsonObjects.string(each)))
        .toList();
  }

  private boolean isOptional(String parameter) {
    Parameter look = parameter == null ? null : parameters.get(parameter);
    return look != null && look.isOptional();
  }

  /**
   * The arguments that the server gets. A null stands for a parameter that is left out, as models
   * send it.
   *
   * @throws BridgeException INVALID_ARGUMENTS for parameters that are not shown
   */
  public Arguments arguments(Arguments given) {
    if (parameters.isEmpty()) {
      return given;
    }
    Map<String, JsonSlice> members = JsonObjects.members(given.json());
    List<String> hidden =
        members.keySet().stream()
            .filter(this::isHidden)
            .limit(MAX_NAMED)
            .map(this::refusal)
            .toList();
    if (!hidden.isEmpty()) {
      throw new BridgeException(
              ErrorCode.INVALID_ARGUMENTS, "The arguments do not match the tool's input schema")
          .with("errors", hidden);
    }
    boolean isChanged = false;
    for (Map.Entry<String, Parameter> parameter : parameters.entrySet()) {
      JsonSlice value = parameter.getValue().value();
      JsonSlice own = members.get(parameter.getKey());
      if (value != null && (own == null || own.equals(JsonSlice.NULL))) {
        members.put(parameter.getKey(), value);
        isChanged = true;
      }
    }
    return isChanged ? Arguments.fromScanned(JsonObjects.object(members), false) : given;
  }

  /** In any case of letters: some servers take such names for the same. */
  private boolean isHidden(String argument) {
    return parameters.entrySet().stream()
        .anyMatch(each -> !each.getValue().isShown() && each.getKey().equalsIgnoreCase(argument));
  }

  private String refusal(String argument) {
    return "'" + argument + "' is not a parameter of this tool";
  }

  /** What of this shape has no effect on a tool, or makes all its calls fail; for people. */
  public List<String> problems(Tool tool) {
    Map<String, JsonSlice> schema =
        tool.inputSchema() == null ? Map.of() : JsonObjects.members(tool.inputSchema());
    Map<String, JsonSlice> properties =
        JsonObjects.members(schema.getOrDefault("properties", JsonSlice.EMPTY_OBJECT));
    List<String> required =
        JsonObjects.elements(schema.getOrDefault("required", JsonSlice.NULL)).stream()
            .map(JsonObjects::string)
            .toList();
    List<String> problems = new ArrayList<>();
    parameters.forEach(
        (parameter, look) -> {
          if (!properties.containsKey(parameter)) {
            problems.add("the server does not list its parameter '" + parameter + "'");
          } else if (!look.isShown() && look.value() == null && required.contains(parameter)) {
            problems.add("its parameter '" + parameter + "' is required, but hidden");
          }
        });
    return problems;
  }
}
