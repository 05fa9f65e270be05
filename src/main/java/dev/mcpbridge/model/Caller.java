package dev.mcpbridge.model;

/**
 * The caller of a request.
 *
 * @param name name of the principal, which owns its calls and confirmations
 * @param session session of the client; null if its protocol has none
 * @param authorization the caller's own credential for an upstream API; null if absent
 * @param share whose quota it counts against: the name, or the remote address for callers without
 *     keys, which all have the same name
 */
public record Caller(String name, String session, String authorization, String share) {

  public Caller(String name, String session) {
    this(name, session, null, name);
  }

  /** A caller without a session. */
  public static Caller of(String name) {
    return new Caller(name, null);
  }

  public Caller withAuthorization(String credential) {
    return new Caller(name, session, credential, share);
  }

  public Caller withShare(String newShare) {
    return new Caller(name, session, authorization, newShare);
  }

  /** Identifies calls that belong together: those of a session, or else those of a name. */
  public String conversation() {
    return session == null ? "caller " + name : "session " + session;
  }

  /** Omits the session and the credential, which are secret. */
  @Override
  public String toString() {
    return name;
  }
}
