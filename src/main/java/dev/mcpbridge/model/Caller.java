package dev.mcpbridge.model;

import java.util.Set;

/**
 * The caller of a request.
 *
 * @param principal who owns its calls and confirmations, with the rights of the request
 * @param session session of the client; null if its protocol has none
 * @param authorization the caller's own credential for an upstream API; null if absent
 * @param share whose quota it counts against: the name, or the remote address for callers without
 *     keys, which all have the same name
 * @param token the access token of the caller; known to the node that has received it only, and
 *     null for keys
 * @param origin how and from where the request came in; null if unknown
 */
public record Caller(
    Principal principal,
    String session,
    String authorization,
    String share,
    String token,
    Origin origin) {

  /**
   * @param door such as {@code mcp}
   * @param address of the client; known to the node that has received the request only, and null
   *     for others and within a program
   */
  public record Origin(String door, String address) {}

  public Caller(Principal principal, String session) {
    this(principal, session, null, principal.name(), null, null);
  }

  /** A caller without a session. */
  public static Caller of(Principal principal) {
    return new Caller(principal, null);
  }

  /** The owner of a finished call, of whom only the name is known. It can make no calls. */
  public static Caller named(String name) {
    return of(new Principal(name, Set.of(), Set.of(), null));
  }

  /** Name of the principal. */
  public String name() {
    return principal.name();
  }

  /** The same caller with the rights of another credential. */
  public Caller withPrincipal(Principal current) {
    return new Caller(current, session, authorization, share, token, origin);
  }

  public Caller withAuthorization(String credential) {
    return new Caller(principal, session, credential, share, token, origin);
  }

  public Caller withToken(String accessToken) {
    return new Caller(principal, session, authorization, share, accessToken, origin);
  }

  public Caller withShare(String newShare) {
    return new Caller(principal, session, authorization, newShare, token, origin);
  }

  public Caller withOrigin(String door, String address) {
    Origin newOrigin = new Origin(door, address);
    return new Caller(principal, session, authorization, share, token, newOrigin);
  }

  /** How the request came in; null if unknown. */
  public String door() {
    return origin == null ? null : origin.door();
  }

  /** From where the request came in; null if unknown. */
  public String address() {
    return origin == null ? null : origin.address();
  }

  /** Identifies calls that belong together: those of a session, or else those of a name. */
  public String conversation() {
    return session == null ? "caller " + name() : "session " + session;
  }

  /** Omits the session, the credential and the token, which are secret. */
  @Override
  public String toString() {
    return name();
  }
}
