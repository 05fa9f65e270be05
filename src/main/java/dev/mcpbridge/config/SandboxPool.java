package dev.mcpbridge.config;

/**
 * The containers of a server, for its calls at risk level 3.
 *
 * @param isPerCall whether each such call has a container that no other call has touched or will
 *     touch; else they share one for its life
 * @param min containers that stand ready when nothing happens
 * @param max containers at a time
 * @param timeoutMillis after which a call is ended with its container; 0 for the call's own
 */
public record SandboxPool(
    ContainerTarget container, boolean isPerCall, int min, int max, long timeoutMillis) {

  /** The same with none that stands ready. */
  public SandboxPool onDemand() {
    return new SandboxPool(container, isPerCall, 0, max, timeoutMillis);
  }

  /** What one of so many may have of these containers, itself one at least. */
  SandboxPool share(int number, int of) {
    return new SandboxPool(
        container,
        isPerCall,
        share(min, number, of),
        Math.max(1, share(max, number, of)),
        timeoutMillis);
  }

  private static int share(int all, int number, int of) {
    return all / of + (number <= all % of ? 1 : 0);
  }
}
