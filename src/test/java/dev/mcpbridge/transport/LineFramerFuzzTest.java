package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What a server writes to its standard output. */
class LineFramerFuzzTest {
  private static final int MAX_LINE = 48;

  @FuzzTest(maxDuration = "1000h")
  void linesAreIndependentOfTheChunksOfAStream(FuzzedDataProvider data) {
    int size = data.consumeInt(1, 64);
    byte[] stream = data.consumeRemainingAsBytes();

    assertEquals(lines(stream, Math.max(1, stream.length)), lines(stream, size));
  }

  private static List<String> lines(byte[] stream, int size) {
    LineFramer framer = new LineFramer(MAX_LINE);
    List<String> lines = new ArrayList<>();
    LineFramer.Sink sink =
        new LineFramer.Sink() {
          @Override
          public void line(byte[] bytes, int from, int to) {
            assertTrue(to - from <= MAX_LINE);
            lines.add(Arrays.toString(Arrays.copyOfRange(bytes, from, to)));
          }

          @Override
          public void oversize(long length, byte[] head, byte[] tail) {
            assertTrue(length > MAX_LINE);
            lines.add("oversize " + length);
          }
        };
    for (int at = 0; at < stream.length; at += size) {
      byte[] chunk = Arrays.copyOfRange(stream, at, Math.min(stream.length, at + size));
      framer.feed(chunk, chunk.length, sink);
      assertTrue(framer.bufferedBytes() <= MAX_LINE);
    }
    return lines;
  }
}
