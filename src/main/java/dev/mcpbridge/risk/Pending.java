package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Forms;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * A call that waits, as all nodes keep it.
 *
 * @param tokenHash SHA-256; the token itself is nowhere
 */
record Pending(Confirmation confirmation, byte[] tokenHash) {

  byte[] toBytes() {
    return new WireWriter(512)
        .part(confirmation, Forms.CONFIRMATION.write())
        .bytes(tokenHash)
        .toBytes();
  }

  static Pending of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    return new Pending(in.part(Forms.CONFIRMATION.read()), in.bytes());
  }
}
