package dev.mcpbridge.perf;

import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import dev.mcpbridge.transport.LineFramer;
import java.nio.charset.StandardCharsets;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** From the bytes of a pipe to messages: splitting into lines, and parsing of a line. */
@State(Scope.Benchmark)
public class Framing {
  private static final int LINES = 100;

  @Param({"100", "1000", "100000"})
  int size;

  private final RpcReader reader = new RpcReader(200);
  private byte[] stream;
  private byte[] line;

  /** Creates responses with a text of {@code size} characters. */
  @Setup
  public void write() {
    String answer =
        "{\"jsonrpc\":\"2.0\",\"id\":12345,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""
            + "x".repeat(size)
            + "\"}]}}";
    line = answer.getBytes(StandardCharsets.UTF_8);
    stream = (answer + "\n").repeat(LINES).getBytes(StandardCharsets.UTF_8);
  }

  @Benchmark
  @OperationsPerInvocation(LINES)
  public void lines(Blackhole hole) {
    LineFramer framer = new LineFramer(16 << 20);
    framer.feed(
        stream,
        stream.length,
        new LineFramer.Sink() {
          @Override
          public void line(byte[] bytes, int from, int to) {
            hole.consume(bytes);
          }

          @Override
          public void oversize(long length, byte[] head, byte[] tail) {
            throw new IllegalStateException();
          }
        });
  }

  @Benchmark
  public RpcMessage message() throws JsonSyntaxException {
    return reader.read(line, 0, line.length);
  }
}
