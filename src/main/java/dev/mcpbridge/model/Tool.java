package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * One tool as its server describes it.
 *
 * @param title empty where it has none
 * @param description empty where it has none
 * @param definition the whole entry of {@code tools/list}, unchanged
 * @param inputSchema its {@code inputSchema}, null where it has none
 * @param outputSchema its {@code outputSchema}, null where it has none
 * @param destructive whether its annotations say so in as many words ({@code destructiveHint:
 *     true})
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

  public Tool {
    title = title == null ? "" : title;
    description = description == null ? "" : description;
  }
}
