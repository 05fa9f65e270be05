package dev.mcpbridge.transport;

/** What a bridge that was killed could not clean up. */
public final class Orphans {
  private Orphans() {}

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
