package dev.mcpbridge.config;

/**
 * The containers of a server, for its calls at risk level 3.
 *
 * @param isPerCall whether each call has a container of its own, which is never reused; otherwise
 *     calls share one for its lifetime
 * @param min number of standby containers without load
 * @param max number of containers at a time
 * @param timeoutMillis after which a call is ended with its container; 0 for the call's own timeout
 */
public record SandboxPool(
    ContainerTarget container, boolean isPerCall, int min, int max, long timeoutMillis) {

  /** A copy without standby containers. */
  public SandboxPool onDemand() {
    return new SandboxPool(container, isPerCall, 0, max, timeoutMillis);
  }

  /** The share of one of several instances, at least one container. */
  SandboxPool forInstance(int number, int instances) {
    return new SandboxPool(
        container,
        isPerCall,
        forInstance(min, number, instances),
        Math.max(1, forInstance(max, number, instances)),
        timeoutMillis);
  }

  private static int forInstance(int total, int number, int instances) {
    return total / instances + (number <= total % instances ? 1 : 0);
  }
}
