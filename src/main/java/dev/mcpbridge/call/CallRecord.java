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
 * What all nodes know of a call that somebody may ask for again.
 *
 * @param owner whoever may ask: a caller's name, or the fingerprint of a request
 * @param slot of the node that runs it
 * @param life of that node's process
 * @param outcome null while it runs
 */
record CallRecord(
    String owner,
    ServerId server,
    Target target,
    long sinceMillis,
    int slot,
    long life,
    Future<CallOutcome> outcome) {
  private static final int MAX_BYTES = 1 << 20;

  CallRecord ended(Future<CallOutcome> how) {
    return new CallRecord(owner, server, target, sinceMillis, slot, life, how);
  }

  byte[] toBytes() {
    WireWriter out = new WireWriter(512);
    out.text(owner)
        .text(server.name())
        .octet(target.kind().ordinal())
        .text(target.name())
        .number(sinceMillis)
        .number(slot)
        .number(life)
        .optional(outcome, (w, how) -> w.part(how, CallRecord::write));
    return out.toBytes();
  }

  static CallRecord of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    return new CallRecord(
        in.text(),
        new ServerId(in.text()),
        new Target(Target.Kind.values()[in.octet()], in.text()),
        in.number(),
        (int) in.number(),
        in.number(),
        in.optional(r -> r.part(CallRecord::read)));
  }

  /** A result that is too large to be kept everywhere is kept as what it was: done. */
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
            "The call was done; its result is too large to be kept for other nodes")
        .withExecuted(Executed.YES);
  }
}
