package dev.mcpbridge.profile;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * How a parameter of a tool looks.
 *
 * @param isShown whether callers see it and may set it
 * @param value sent if the caller sets none, or always if it is not shown; null for none
 * @param description null for that of the server
 */
public record Parameter(boolean isShown, JsonSlice value, String description) {
  /** Whether a caller can leave it out. */
  boolean isOptional() {
    return !isShown || value != null;
  }
}
