package dev.mcpbridge.call;

import dev.mcpbridge.bus.WireCodecs;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import io.vertx.core.Future;

/**
 * A call as stored on all nodes, so that its outcome can be fetched or repeated.
 *
 * @param owner who may fetch it: a caller's name, or the fingerprint of a request
 * @param slot slot of the node that runs it
 * @param incarnation identifies the process of that node
 * @param outcome null while it runs
 */
record CallRecord(
    String owner,
    ServerId server,
    Target target,
    long sinceMillis,
    int slot,
    long incarnation,
    Future<CallOutcome> outcome) {
  private static final int MAX_BYTES = 1 << 20;

  CallRecord ended(Future<CallOutcome> outcome) {
    return new CallRecord(owner, server, target, sinceMillis, slot, incarnation, outcome);
  }

  byte[] toBytes() {
    WireWriter out = new WireWriter(512);
    out.text(owner)
        .text(server.name())
        .octet(target.kind().ordinal())
        .text(target.name())
        .number(sinceMillis)
        .number(slot)
        .number(incarnation)
        .optional(outcome, (w, ended) -> w.part(ended, CallRecord::write));
    return out.toBytes();
  }

  static CallRecord of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    return new CallRecord(
        in.text(),
        new ServerId(in.text()),
        new Target(in.choice(Target.Kind.values()), in.text()),
        in.number(),
        (int) in.number(),
        in.number(),
        in.optional(r -> r.part(CallRecord::read)));
  }

  /**
   * A result that is too large for all nodes is stored as an error that reports the execution; the
   * node that ran the call sends the result to a node that needs it.
   */
  private static void write(WireWriter out, Future<CallOutcome> outcome) {
    if (outcome.failed()) {
      WireCodecs.FAILURE.write().accept(out.octet(1), BridgeException.of(outcome.cause()));
    } else if (outcome.result() instanceof CallOutcome.Completed completed) {
      boolean isSmall = completed.result().length() <= MAX_BYTES;
      if (isSmall) {
        WireCodecs.JSON.write().accept(out.octet(2), completed.result());
      } else {
        WireCodecs.FAILURE.write().accept(out.octet(1), tooLarge());
      }
    } else if (outcome.result() instanceof CallOutcome.NeedsConfirmation needs) {
      WireCodecs.PENDING.write().accept(out.octet(3), needs.pending());
    }
  }

  private static Future<CallOutcome> read(WireReader in) {
    return switch (in.octet()) {
      case 2 -> Future.succeededFuture(new CallOutcome.Completed(WireCodecs.JSON.read().apply(in)));
      case 3 ->
          Future.succeededFuture(
              new CallOutcome.NeedsConfirmation(WireCodecs.PENDING.read().apply(in)));
      default -> Future.failedFuture(WireCodecs.FAILURE.read().apply(in));
    };
  }

  private static BridgeException tooLarge() {
    return new BridgeException(
            ErrorCode.RESPONSE_TOO_LARGE,
            "The call was executed, but the node that has its large result cannot send it")
        .withExecuted(Executed.YES);
  }
}
