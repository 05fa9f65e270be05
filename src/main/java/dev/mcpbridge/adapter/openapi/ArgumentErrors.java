package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;

/** Errors for arguments that match the schema but cannot be sent. Stateless. */
final class ArgumentErrors {
  private ArgumentErrors() {}

  static BridgeException of(String reason) {
    return new BridgeException(
        ErrorCode.INVALID_ARGUMENTS, "The arguments cannot be sent: " + reason);
  }

  /** Rejects CR, LF and NUL, which must not occur in values of URLs and headers. */
  static String requirePlain(String key, String text) {
    if (text.chars().anyMatch(c -> c == '\r' || c == '\n' || c == 0)) {
      throw of("'" + key + "' contains a line break or a NUL");
    }
    return text;
  }
}
