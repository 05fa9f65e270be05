package dev.mcpbridge.bus;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Encodes a value for other nodes; within a node values are passed by reference.
 *
 * <p>Adjacent versions are compatible: a newer version appends fields at the end and reads them
 * only if they are present.
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
