package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * An authenticated caller.
 *
 * @param name identifies the caller in quotas, confirmations, sessions and logs: the name of a key,
 *     or {@code issuer|subject} of a token, where {@code issuer} is the configured name
 * @param token null for a caller with a key or without credential
 */
public record Principal(String name, Set<Scope> scopes, Set<String> roles, Token token) {

  private static final String NOBODY = "anonymous";

  /** Every caller if no credential is required. */
  public static final Principal ANONYMOUS =
      new Principal(NOBODY, EnumSet.allOf(Scope.class), Set.of(), null);

  /**
   * The token of a caller.
   *
   * @param issuer configured name of its issuer
   * @param client id of the client that it was issued to; null if unknown
   * @param expiresMillis when it expires, on the wall clock; {@link Long#MAX_VALUE} if unknown
   * @param granted its scopes, as its issuer calls them
   * @param scopeNames what its issuer calls the scopes of the bridge
   */
  public record Token(
      String issuer,
      String client,
      long expiresMillis,
      Set<String> granted,
      Map<Scope, String> scopeNames) {

    /** The client by which users know who acts for them; all unknown ones count as one. */
    public String clientName() {
      return clientName(client);
    }

    /**
     * @param client null if unknown
     */
    public static String clientName(String client) {
      return client == null ? "" : client;
    }
  }

  /**
   * The name of the principal of a token.
   *
   * @param issuer configured name of its issuer
   */
  public static String nameOf(String issuer, String subject) {
    return issuer + "|" + subject;
  }

  public boolean may(Scope scope) {
    return scopes.contains(scope);
  }

  public boolean isAnonymous() {
    return token == null && name.equals(NOBODY);
  }

  /** All scopes by name: those of the token, or those of the key. */
  public Set<String> scopeNames() {
    return token == null
        ? scopes.stream().map(Scope::apiName).collect(Collectors.toSet())
        : token.granted();
  }

  /** By name only: principals are looked up for every call. */
  @Override
  public int hashCode() {
    return name.hashCode();
  }

  /**
   * @throws BridgeException INSUFFICIENT_SCOPE with the member {@code scope} if another token would
   *     help, else FORBIDDEN
   */
  public void require(Scope scope) {
    if (!may(scope)) {
      throw lacking(scope);
    }
  }

  /** Why a request is refused without a scope, as in {@link #require}. */
  public BridgeException lacking(Scope scope) {
    if (token == null) {
      return new BridgeException(
          ErrorCode.FORBIDDEN, "The scope '" + scope.apiName() + "' is required");
    }
    String name = token.scopeNames().get(scope);
    return new BridgeException(
            ErrorCode.INSUFFICIENT_SCOPE, "A token with the scope '" + name + "' is required")
        .with("scope", name);
  }
}
