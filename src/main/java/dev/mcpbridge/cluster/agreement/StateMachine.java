package dev.mcpbridge.cluster.agreement;

/** What the commands are for; does the same on every replica. */
public interface StateMachine {

  /** Does what a command says; never fails, since it would on all of them. */
  void apply(long op, Entry entry);

  /** Whether a command is its proposer's to propose, and not one that speaks for another node. */
  default boolean mayBeProposed(Entry entry) {
    return true;
  }

  byte[] snapshot();

  /**
   * Becomes what a snapshot says.
   *
   * @param snapshot null for the beginning
   */
  void restore(byte[] snapshot);
}
