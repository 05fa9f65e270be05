package dev.mcpbridge.risk;

import dev.mcpbridge.bus.WireCodecs;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * A call that waits, as all nodes keep it; or what is known of one that was decided.
 *
 * @param tokenHash SHA-256, since the token itself is kept nowhere; {@link #NO_TOKEN} for a call
 *     whose caller got none because an operator is to decide
 * @param isRejected whether a human has said no
 * @param executed what is known of the call's effect since the decision; null before it
 */
record ConfirmationRecord(
    Confirmation confirmation, byte[] tokenHash, boolean isRejected, Executed executed) {
  static final byte[] NO_TOKEN = {};

  ConfirmationRecord(Confirmation confirmation, byte[] tokenHash) {
    this(confirmation, tokenHash, false, null);
  }

  boolean isForAnOperator() {
    return tokenHash.length == 0;
  }

  boolean isDecided() {
    return executed != null;
  }

  /** What is left after the decision: whose it was, and nothing that could be run. */
  ConfirmationRecord decided(boolean approved, Executed known) {
    Call call = confirmation.call();
    Call shown =
        new Call(
            call.id(),
            call.server(),
            call.target(),
            JsonSlice.EMPTY_OBJECT,
            call.caller(),
            0,
            false,
            Envelope.NONE);
    Confirmation left =
        new Confirmation(
            confirmation.id(),
            shown,
            confirmation.level(),
            "",
            "",
            confirmation.createdAtMillis(),
            confirmation.expiresAtMillis());
    return new ConfirmationRecord(left, NO_TOKEN, !approved, known);
  }

  byte[] toBytes() {
    return new WireWriter(512)
        .part(confirmation, WireCodecs.CONFIRMATION.write())
        .bytes(tokenHash)
        .flag(isRejected)
        .text(isDecided() ? executed.name() : "")
        .toBytes();
  }

  static ConfirmationRecord of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    Confirmation confirmation = in.part(WireCodecs.CONFIRMATION.read());
    byte[] tokenHash = in.bytes();
    boolean isRejected = in.flag();
    String executed = in.text();
    return new ConfirmationRecord(
        confirmation,
        tokenHash,
        isRejected,
        executed.isEmpty() ? null : Executed.valueOf(executed));
  }
}
