package dev.mcpbridge.model;

/**
 * Who makes a call.
 *
 * @param name of the principal; queue turns go by it, and everything that is one's own
 * @param session the client's own, null where its protocol has none
 * @param authorization the caller's own credential at an API behind the bridge, null for none
 */
public record Caller(String name, String session, String authorization) {

  public Caller(String name, String session) {
    this(name, session, null);
  }

  /** One whose calls stand each for itself. */
  public static Caller of(String name) {
    return new Caller(name, null);
  }

  public Caller withAuthorization(String credential) {
    return new Caller(name, session, credential);
  }

  /** The same for all calls that belong together: those of a session, else those of a name. */
  public String conversation() {
    return session == null ? "caller " + name : "session " + session;
  }

  /** Without session and credential, which are nobody else's business. */
  @Override
  public String toString() {
    return name;
  }
}
