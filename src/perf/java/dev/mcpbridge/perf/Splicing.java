package dev.mcpbridge.perf;

import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.RpcWriter;
import java.nio.charset.StandardCharsets;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** From the body of a request to the line that is written to the pipe. */
@State(Scope.Benchmark)
public class Splicing {
  @Param({"100", "1000", "100000"})
  int size;

  private byte[] body;
  private JsonSlice arguments;

  /** Creates an object with one string of {@code size} characters. */
  @Setup
  public void write() {
    body = ("{\"text\":\"" + "x".repeat(size) + "\"}").getBytes(StandardCharsets.UTF_8);
    arguments = JsonSlice.of(new String(body, StandardCharsets.UTF_8));
  }

  @Benchmark
  public Arguments read() {
    return Arguments.read(body, 100);
  }

  @Benchmark
  public byte[] envelope() {
    JsonSlice params =
        new JsonWriter(arguments.length() + 64)
            .beginObject()
            .member("name", "echo")
            .member("arguments", arguments)
            .endObject()
            .toSlice();
    return RpcWriter.request(7, "tools/call", params).toBytes();
  }
}
