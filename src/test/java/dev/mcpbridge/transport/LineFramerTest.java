package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LineFramerTest {

  private final List<String> lines = new ArrayList<>();
  private final List<String> heads = new ArrayList<>();
  private final List<String> tails = new ArrayList<>();
  private final LineFramer.Sink sink =
      new LineFramer.Sink() {
        @Override
        public void line(byte[] bytes, int from, int to) {
          lines.add(new String(bytes, from, to - from, StandardCharsets.UTF_8));
        }

        @Override
        public void oversize(long length, byte[] head, byte[] tail) {
          heads.add(new String(head, StandardCharsets.US_ASCII));
          tails.add(new String(tail, StandardCharsets.US_ASCII));
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
  void aLineOverTheLimitInOneChunkIsOversize() {
    feed(new LineFramer(1000), "y".repeat(1001) + "\nafter\n");

    assertEquals(List.of("oversize 1001 yy", "after"), lines);
  }

  @Test
  void aLineOfExactlyTheLimitInTwoChunksIsAccepted() {
    LineFramer framer = new LineFramer(1000);

    feed(framer, "y".repeat(999));
    assertEquals(999, framer.bufferedBytes());
    feed(framer, "z\n");
    assertEquals(0, framer.bufferedBytes());
    feed(framer, "y".repeat(999));
    feed(framer, "zz\n");

    assertEquals(List.of("y".repeat(999) + "z", "oversize 1001 yz"), lines);
  }

  @Test
  void anOversizeLineIsReportedWithItsFirstAndLastBytes() {
    String numbers =
        IntStream.range(0, 1000)
            .mapToObj(i -> String.format(Locale.ROOT, "%04d", i))
            .collect(Collectors.joining());
    for (int seed = 0; seed < 50; seed++) {
      heads.clear();
      tails.clear();
      byte[] stream = (numbers + "\n").getBytes(StandardCharsets.UTF_8);
      feedInPieces(new LineFramer(1000), stream, new Random(seed));

      assertEquals(List.of(numbers.substring(0, 256)), heads);
      assertEquals(List.of(numbers.substring(4000 - 256)), tails);
    }
    heads.clear();
    tails.clear();
    feed(new LineFramer(1000), numbers + "\n");
    assertEquals(List.of(numbers.substring(0, 256)), heads);
    assertEquals(List.of(numbers.substring(4000 - 256)), tails);
  }

  @Test
  void theBytesOfALineOverTheLimitAreCounted() {
    LineFramer framer = new LineFramer(1000);

    feed(framer, "y".repeat(900));
    assertEquals(0, framer.skipped());
    feed(framer, "y".repeat(900));
    assertEquals(1800, framer.skipped());
    assertEquals(0, framer.bufferedBytes());
    feed(framer, "y\n");

    assertEquals(0, framer.skipped());
    assertEquals(List.of("oversize 1801 yy"), lines);
  }

  @Test
  void onlyBytesThatWereReadAreSplit() {
    byte[] stream = "one\ntwo\nold\n".getBytes(StandardCharsets.UTF_8);

    new LineFramer(1000).feed(stream, 8, sink);

    assertEquals(List.of("one", "two"), lines);
  }

  @Test
  void aByteOrderMarkAloneIsNoLine() {
    feed(new LineFramer(1000), "\uFEFF\n\uFEFFx\r\r\n");

    assertEquals(List.of("x"), lines);
  }

  @Test
  void otherBytesAreNoByteOrderMark() {
    byte[] bytes = "\u00EFabc\n\u00EF\u00BBabc\n\u00EF\n".getBytes(StandardCharsets.ISO_8859_1);

    new LineFramer(1000).feed(bytes, bytes.length, sink);

    assertEquals(List.of("\uFFFDabc", "\uFFFDabc", "\uFFFD"), lines);
  }

  private void feed(LineFramer framer, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    framer.feed(bytes, bytes.length, sink);
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
