package dev.mcpbridge.bus;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.util.function.Consumer;

/**
 * A message on the event bus: any immutable value, passed by reference within this JVM.
 *
 * @param reply callback for the response, a value or a BridgeException, on the caller's context;
 *     null if the message is published
 */
record LocalMessage(Object content, Consumer<Object> reply) {

  static final Codec CODEC = new Codec();

  /** Passes the reference on. Messages are sent {@code localOnly}, so they are never encoded. */
  static final class Codec implements MessageCodec<LocalMessage, LocalMessage> {
    @Override
    public void encodeToWire(Buffer buffer, LocalMessage localMessage) {
      throw new IllegalStateException("Local messages cannot be encoded");
    }

    @Override
    public LocalMessage decodeFromWire(int position, Buffer buffer) {
      throw new IllegalStateException("Local messages cannot be decoded");
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
