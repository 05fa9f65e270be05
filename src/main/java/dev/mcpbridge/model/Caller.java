package dev.mcpbridge.model;

/**
 * Who makes a call.
 *
 * @param name of the principal; everything that is one's own goes by it
 * @param session the client's own, null where its protocol has none
 * @param authorization the caller's own credential at an API behind the bridge, null for none
 * @param share whose share of what is bounded it takes: the name, or for callers without keys, who
 *     have one name, the address that they come from
 */
public record Caller(String name, String session, String authorization, String share) {

  public Caller(String name, String session) {
    this(name, session, null, name);
  }

  /** One whose calls stand each for itself. */
  public static Caller of(String name) {
    return new Caller(name, null);
  }

  public Caller withAuthorization(String credential) {
    return new Caller(name, session, credential, share);
  }

  public Caller withShare(String other) {
    return new Caller(name, session, authorization, other);
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
