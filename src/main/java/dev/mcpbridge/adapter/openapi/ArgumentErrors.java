package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;

/** Arguments that fit the schema and still cannot be sent. Stateless. */
final class ArgumentErrors {
  private ArgumentErrors() {}

  static BridgeException of(String why) {
    return new BridgeException(ErrorCode.INVALID_ARGUMENTS, "The arguments cannot be sent: " + why);
  }

  /** CR, LF and NUL end a line or a text somewhere; no value of a URL or a header has them. */
  static String unlessPlain(String key, String text) {
    if (text.chars().anyMatch(c -> c == '\r' || c == '\n' || c == 0)) {
      throw of("'" + key + "' holds a line break or a NUL");
    }
    return text;
  }
}
