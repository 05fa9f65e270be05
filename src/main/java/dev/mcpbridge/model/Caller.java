package dev.mcpbridge.model;

/**
 * Who makes a call.
 *
 * @param name of the principal; queue turns go by it, and everything that is one's own
 * @param session the client's own, null where its protocol has none
 */
public record Caller(String name, String session) {

  /** One whose calls stand each for itself. */
  public static Caller of(String name) {
    return new Caller(name, null);
  }

  /** The same for all calls that belong together: those of a session, else those of a name. */
  public String conversation() {
    return session == null ? "caller " + name : "session " + session;
  }

  /** Without the session, whose id is nobody else's business. */
  @Override
  public String toString() {
    return name;
  }
}
