package dev.mcpbridge.call;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Calls of entries that their callers may not know of. A door answers them as it does for entries
 * that do not exist; the audit trail and the metrics have the refusal with its rule. Confined to
 * the HTTP verticle.
 */
public final class ConcealedCalls {
  private final CallPipeline pipeline;

  /** Of these calls alone: a gap in the ids of other calls would tell their caller. */
  private final CallIds ids = new CallIds();

  public ConcealedCalls(CallPipeline pipeline) {
    this.pipeline = pipeline;
  }

  /**
   * Reports a call of a concealed entry; does nothing without one.
   *
   * @param arguments may fail, if they are not those of any call
   * @param envelope likewise
   */
  public void refuse(
      Optional<ToolLocation> concealed,
      Target.Kind kind,
      Supplier<Arguments> arguments,
      Caller caller,
      Supplier<Envelope> envelope) {
    if (concealed.isPresent()) {
      ToolLocation entry = concealed.get();
      try {
        pipeline.refuse(
            new CallRequest(
                ids.next(),
                entry.server().id(),
                new Target(kind, entry.name()),
                arguments.get(),
                caller,
                false,
                envelope.get()));
      } catch (BridgeException notACall) {
        // the door says what is wrong with an entry that does not exist, and no more
      }
    }
  }
}
