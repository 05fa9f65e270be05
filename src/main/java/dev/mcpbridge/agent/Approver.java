package dev.mcpbridge.agent;

/** Decides about calls that need an approval. Called on the thread of {@link Agent#ask}. */
public interface Approver {

  /** The answer to a request for approval. */
  enum Decision {
    YES,
    NO,
    /** Approves this call and every later call of the same tool, with any arguments. */
    ALWAYS
  }

  Decision decide(ToolOutcome.Pending call) throws InterruptedException;

  /**
   * A call needs the user's consent, at a page that is opened in a browser.
   *
   * @return whether the user says that it is given
   */
  default boolean requestConsent(ToolOutcome.ConsentRequired consent) throws InterruptedException {
    return false;
  }

  /** Rejects every call. */
  static Approver rejectAll() {
    return call -> Decision.NO;
  }
}
