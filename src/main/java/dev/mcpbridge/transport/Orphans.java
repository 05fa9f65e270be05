package dev.mcpbridge.transport;

/** The processes of a bridge that was killed, or that may run nothing any more. */
public final class Orphans {
  private Orphans() {}

  /**
   * Ends every child of this bridge at once, without asking: whoever calls it may run nothing any
   * more. Blocks for some milliseconds.
   *
   * @return how many processes were ended
   */
  public static int endOwn() {
    return ProcessTree.endOwn();
  }

  /**
   * Ends the children of bridges that no longer live; those of living ones are left alone. Blocks
   * for some milliseconds.
   *
   * @return how many processes were ended
   */
  public static int end() {
    return ProcessTree.endOrphans();
  }
}
