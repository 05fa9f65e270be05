package dev.mcpbridge.bus;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.util.function.Consumer;

/**
 * What the event bus carries: any immutable value, by reference, within this JVM.
 *
 * @param reply takes the answer, a value or a BridgeException, on the asker's context; null for
 *     news
 */
record LocalMessage(Object content, Consumer<Object> reply) {

  static final Codec CODEC = new Codec();

  /** Hands the reference over. Messages are sent {@code localOnly}, so nothing is ever encoded. */
  static final class Codec implements MessageCodec<LocalMessage, LocalMessage> {
    @Override
    public void encodeToWire(Buffer buffer, LocalMessage localMessage) {
      throw new IllegalStateException("local messages are not encoded");
    }

    @Override
    public LocalMessage decodeFromWire(int position, Buffer buffer) {
      throw new IllegalStateException("local messages are not decoded");
    }

    @Override
    public LocalMessage transform(LocalMessage localMessage) {
      return localMessage;
    }

    @Override
    public String name() {
      return "parcel";
    }

    @Override
    public byte systemCodecID() {
      return -1;
    }
  }
}
