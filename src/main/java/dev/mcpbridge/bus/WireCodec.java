package dev.mcpbridge.bus;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * How a value travels between nodes; within one it is handed over as it is.
 *
 * <p>Two adjacent versions understand each other: a newer one adds fields at the end, and reads
 * them where they are there.
 */
public record WireCodec<T>(BiConsumer<WireWriter, T> write, Function<WireReader, T> read) {

  public byte[] bytes(T value) {
    WireWriter out = new WireWriter();
    write.accept(out, value);
    return out.toBytes();
  }

  public T of(byte[] bytes) {
    return read.apply(new WireReader(bytes));
  }
}
