package dev.mcpbridge.agent;

import java.util.Optional;

/** Who decides what the bridge does not decide. Asked on the thread of {@link Agent#ask}. */
public interface Human {

  /** What can be said to a question. */
  enum Decision {
    YES,
    NO,
    /** Yes, and to every later call of the same tool, whatever its arguments. */
    ALWAYS
  }

  Decision approves(ToolEnd.Pending call) throws InterruptedException;

  /**
   * A server wants its user to log in.
   *
   * @return what it wants to see of that, the value of Authorization; empty for nothing
   */
  default Optional<String> logsIn(ToolEnd.Login login) throws InterruptedException {
    return Optional.empty();
  }

  /** Nobody who could say yes. */
  static Human none() {
    return call -> Decision.NO;
  }
}
