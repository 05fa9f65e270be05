package dev.mcpbridge.oauth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import java.util.List;

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

  /**
   * @param client empty if it is unknown
   * @param scopes that were granted
   */
  BridgeException clientUnknown(String client, List<String> scopes) {
    BridgeException failure =
        new BridgeException(
            ErrorCode.CONSENT_REQUIRED,
            "The user of server '"
                + server
                + "' has not agreed that "
                + (client.isEmpty() ? "this client" : "client '" + client + "'")
                + " uses it");
    return scopes.isEmpty() ? failure : failure.with("scope", String.join(" ", scopes));
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
