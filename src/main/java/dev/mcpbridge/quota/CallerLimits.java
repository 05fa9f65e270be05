package dev.mcpbridge.quota;

import dev.mcpbridge.model.CallQueue;
import java.util.function.BooleanSupplier;

/**
 * What bounds the calls of each caller.
 *
 * @param severalCallers whether callers can be told apart at this moment
 */
public record CallerLimits(BooleanSupplier severalCallers, Quotas quotas, Urgencies urgencies) {

  /** Between whom the slots of a server are shared. */
  public CallQueue.Sharing sharing() {
    return new CallQueue.Sharing(severalCallers, urgencies::hasUrgentCallers);
  }
}
