package dev.mcpbridge.auth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;

/**
 * Why a token is not accepted. The texts are the {@code error_description} of the challenge (RFC
 * 6750 section 3); they say nothing about expected values.
 */
enum Rejection {
  MALFORMED("malformed token"),
  WRONG_ALGORITHM("wrong algorithm"),
  UNKNOWN_KEY("unknown key"),
  WRONG_SIGNATURE("wrong signature"),
  WRONG_TYPE("wrong type"),
  WRONG_ISSUER("wrong issuer"),
  WRONG_AUDIENCE("wrong audience"),
  NO_SUBJECT("no subject"),
  EXPIRED("expired"),
  NOT_YET_VALID("not yet valid"),
  INACTIVE("inactive"),
  BOUND("bound to a key of its sender");

  private final String text;

  Rejection(String text) {
    this.text = text;
  }

  BridgeException failure() {
    return new BridgeException(ErrorCode.UNAUTHENTICATED, "The access token is invalid: " + text)
        .with("reason", text);
  }
}
