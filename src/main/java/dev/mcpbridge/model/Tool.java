package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.util.Map;

/**
 * One tool as its server describes it.
 *
 * @param title empty if it has none
 * @param description empty if it has none
 * @param definition the whole entry of {@code tools/list}, unchanged
 * @param inputSchema its {@code inputSchema}; null if it has none
 * @param outputSchema its {@code outputSchema}; null if it has none
 * @param destructive whether its annotations contain {@code destructiveHint: true}
 * @param digest SHA-256 of the definition, hexadecimal
 */
public record Tool(
    String name,
    String title,
    String description,
    JsonSlice definition,
    JsonSlice inputSchema,
    JsonSlice outputSchema,
    boolean destructive,
    String digest) {
  private static final int MAX_NAME = 256;

  public Tool {
    title = title == null ? "" : title;
    description = description == null ? "" : description;
  }

  /**
   * Reads an entry of {@code tools/list}.
   *
   * @return null if it has no usable name
   */
  public static Tool of(JsonSlice definition) {
    Map<String, JsonSlice> members = JsonObjects.members(definition);
    String name = JsonObjects.string(members.get("name"));
    if (name == null || name.isEmpty() || name.length() > MAX_NAME || hasControls(name)) {
      return null;
    }
    return new Tool(
        name,
        JsonObjects.string(members.get("title")),
        JsonObjects.string(members.get("description")),
        definition,
        object(members.get("inputSchema")),
        object(members.get("outputSchema")),
        isDestructive(members.get("annotations")),
        new Sha256().add(definition).hex());
  }

  private static JsonSlice object(JsonSlice schema) {
    return schema != null && schema.isObject() ? schema : null;
  }

  private static boolean isDestructive(JsonSlice annotations) {
    if (annotations == null) {
      return false;
    }
    JsonSlice hint = JsonObjects.members(annotations).get("destructiveHint");
    return hint != null && hint.text().equals("true");
  }

  private static boolean hasControls(String name) {
    return name.chars().anyMatch(Character::isISOControl);
  }
}
