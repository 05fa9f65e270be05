package dev.mcpbridge.agent;

import java.util.Optional;

/** Who decides what the bridge does not decide. Asked on the thread of {@link Agent#ask}. */
public interface Approver {

  /** What can be said to a question. */
  enum Decision {
    YES,
    NO,
    /** Yes, and to every later call of the same tool, whatever its arguments. */
    ALWAYS
  }

  Decision approves(ToolOutcome.Pending call) throws InterruptedException;

  /**
   * A server wants its user to log in.
   *
   * @return what it wants to see of that, the value of Authorization; empty for nothing
   */
  default Optional<String> logsIn(ToolOutcome.Login login) throws InterruptedException {
    return Optional.empty();
  }

  /** Nobody who could say yes. */
  static Approver none() {
    return call -> Decision.NO;
  }
}
