package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineFramerTest {

  private final List<String> lines = new ArrayList<>();
  private final LineFramer.Sink sink =
      new LineFramer.Sink() {
        @Override
        public void line(byte[] bytes, int from, int to) {
          lines.add(new String(bytes, from, to - from, StandardCharsets.UTF_8));
        }

        @Override
        public void oversize(long length, byte[] head, byte[] tail) {
          lines.add("oversize " + length + " " + (char) head[0] + (char) tail[tail.length - 1]);
        }
      };

  @Test
  void linesAreIndependentOfChunks() {
    byte[] stream = "{\"a\":1}\nzwei ü 🎉\r\n\n\uFEFFvier\n".getBytes(StandardCharsets.UTF_8);
    for (int seed = 0; seed < 200; seed++) {
      lines.clear();
      feedInPieces(new LineFramer(1000), stream, new Random(seed));
      assertEquals(List.of("{\"a\":1}", "zwei ü 🎉", "vier"), lines);
    }
  }

  @Test
  void anOversizeLineLosesOnlyItself() {
    String stream = "before\n" + "A" + "x".repeat(5000) + "Z\nafter\n";
    for (int seed = 0; seed < 50; seed++) {
      lines.clear();
      feedInPieces(new LineFramer(1000), stream.getBytes(StandardCharsets.UTF_8), new Random(seed));
      assertEquals(List.of("before", "oversize 5002 AZ", "after"), lines);
    }
  }

  @Test
  void aLineOfExactlyTheLimitIsAccepted() {
    byte[] stream = ("y".repeat(1000) + "\n").getBytes(StandardCharsets.UTF_8);

    new LineFramer(1000).feed(stream, stream.length, sink);

    assertEquals(1000, lines.get(0).length());
  }

  @Test
  void memoryIsBoundedWithoutALineEnd() {
    LineFramer framer = new LineFramer(10_000);
    byte[] chunk = "z".repeat(4096).getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 1000; i++) {
      framer.feed(chunk, chunk.length, sink);
      assertTrue(framer.bufferedBytes() <= 10_000);
    }
  }

  private void feedInPieces(LineFramer framer, byte[] stream, Random random) {
    int offset = 0;
    while (offset < stream.length) {
      int length = Math.min(stream.length - offset, 1 + random.nextInt(40));
      byte[] piece = java.util.Arrays.copyOfRange(stream, offset, offset + length);
      framer.feed(piece, length, sink);
      offset += length;
    }
  }
}
