package dev.mcpbridge.oauth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;

/** The failures of calls that a server does not accept without further ado. */
record AuthorizationFailures(ServerId server) {

  /**
   * @param scope what is asked for; null if unknown
   */
  BridgeException consentRequired(String scope) {
    BridgeException failure =
        new BridgeException(
            ErrorCode.CONSENT_REQUIRED,
            "Server '" + server + "' requires that its user grants this bridge access");
    return scope == null ? failure : failure.with("scope", scope);
  }

  BridgeException agreedInVain() {
    return new BridgeException(
        ErrorCode.FORBIDDEN,
        "Server '"
            + server
            + "' refuses the request although its user has agreed to more scopes "
            + ConsentRounds.MAX
            + " times within an hour");
  }

  BridgeException noAuthorization(Throwable failure) {
    return failure instanceof BridgeException known
        ? known
        : new BridgeException(
            ErrorCode.UPSTREAM_ERROR,
            "No authorization for server '" + server + "': " + failure.getMessage());
  }
}
