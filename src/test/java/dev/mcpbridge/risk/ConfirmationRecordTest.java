package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.bus.Gate.ConfirmationState.Ruling;
import dev.mcpbridge.bus.WireCodecs;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireWriter;
import org.junit.jupiter.api.Test;

class ConfirmationRecordTest {
  private final Confirmation confirmation =
      new Confirmation(
          "id",
          new Call(
              "id",
              new ServerId("s"),
              Target.tool("t"),
              JsonSlice.EMPTY_OBJECT,
              Caller.named("alice"),
              0,
              false,
              Envelope.NONE,
              new CancellationToken()),
          RiskLevel.MEDIUM,
          "definition",
          "digest",
          1,
          2);

  @Test
  void recordOfAnOlderNodeHasNoDecider() {
    byte[] old =
        new WireWriter(64)
            .part(confirmation, WireCodecs.CONFIRMATION.write())
            .bytes(ConfirmationRecord.NO_TOKEN)
            .flag(true)
            .text("NO")
            .toBytes();

    ConfirmationRecord read = ConfirmationRecord.of(old);

    assertTrue(read.isDecided() && read.isRejected());
    assertEquals(new Ruling("", "", 0), read.ruling());
  }

  @Test
  void decisionIsReadAsItWasWritten() {
    ConfirmationRecord pending = new ConfirmationRecord(confirmation, ConfirmationRecord.NO_TOKEN);
    Ruling ruling = new Ruling("boss", "not on a Friday", 5);

    assertNull(ConfirmationRecord.of(pending.toBytes()).ruling());
    assertEquals(
        ruling,
        ConfirmationRecord.of(pending.decided(false, Executed.NO, ruling).toBytes()).ruling());
  }
}
