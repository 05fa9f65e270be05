package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Gate.ConfirmationState.Ruling;
import dev.mcpbridge.bus.WireCodecs;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * A confirmation as stored on all nodes, pending or decided.
 *
 * @param tokenHash SHA-256 of the token, which is not stored itself; {@link #NO_TOKEN} if the
 *     caller received none because an operator decides
 * @param isRejected whether a human rejected the call
 * @param executed whether the call was executed, as far as known; null before the decision
 * @param ruling null before the decision
 */
record ConfirmationRecord(
    Confirmation confirmation,
    byte[] tokenHash,
    boolean isRejected,
    Executed executed,
    Ruling ruling) {
  static final byte[] NO_TOKEN = {};

  ConfirmationRecord(Confirmation confirmation, byte[] tokenHash) {
    this(confirmation, tokenHash, false, null, null);
  }

  boolean needsOperator() {
    return tokenHash.length == 0;
  }

  boolean isDecided() {
    return executed != null;
  }

  /** The record after the decision: it retains the caller, but nothing that could be run. */
  ConfirmationRecord decided(boolean approved, Executed executed, Ruling by) {
    Call call = confirmation.call();
    Call stripped =
        new Call(
            call.id(),
            call.server(),
            call.target(),
            JsonSlice.EMPTY_OBJECT,
            call.caller(),
            0,
            false,
            Envelope.NONE,
            new CancellationToken());
    Confirmation remaining =
        new Confirmation(
            confirmation.id(),
            stripped,
            confirmation.level(),
            "",
            "",
            confirmation.createdAtMillis(),
            confirmation.expiresAtMillis());
    return new ConfirmationRecord(remaining, NO_TOKEN, !approved, executed, by);
  }

  byte[] toBytes() {
    return new WireWriter(512)
        .part(confirmation, WireCodecs.CONFIRMATION.write())
        .bytes(tokenHash)
        .flag(isRejected)
        .text(isDecided() ? executed.name() : "")
        .text(isDecided() ? ruling.by() : "")
        .text(isDecided() ? ruling.reason() : "")
        .number(isDecided() ? ruling.atMillis() : 0)
        .toBytes();
  }

  static ConfirmationRecord of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    Confirmation confirmation = in.part(WireCodecs.CONFIRMATION.read());
    byte[] tokenHash = in.bytes();
    boolean isRejected = in.flag();
    String executed = in.text();
    Ruling ruling =
        in.isAtEnd() ? new Ruling("", "", 0) : new Ruling(in.text(), in.text(), in.number());
    return executed.isEmpty()
        ? new ConfirmationRecord(confirmation, tokenHash)
        : new ConfirmationRecord(
            confirmation, tokenHash, isRejected, Executed.valueOf(executed), ruling);
  }
}
