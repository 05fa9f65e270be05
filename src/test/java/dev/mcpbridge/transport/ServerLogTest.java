package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.LogLine;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServerLogTest {
  private final Clock clock = Clock.fixed(Instant.ofEpochMilli(1_000), ZoneOffset.UTC);
  private final ServerLog log = new ServerLog(clock, List.of("hunter2-long", "hunter2"));
  private final StderrLines lines = new StderrLines(log, 7);

  private void write(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    lines.feed(bytes, bytes.length);
  }

  private List<String> texts() {
    return log.last(10_000).stream().map(LogLine::text).toList();
  }

  @Test
  void linesAreNumberedAndReadFromANumberOn() {
    write("one\ntwo\r\n\nthree\n");

    assertEquals(List.of("one", "two", "three"), texts());
    List<LogLine> all = log.last(10);
    assertEquals(new LogLine(1_000_000, 1_000, "stderr", 7, "one"), all.get(0));
    assertEquals(List.of(all.get(2)), log.after(all.get(1).number(), 10));
    assertEquals(List.of(all.get(2)), log.last(1));
    assertEquals(List.of(all.get(0)), log.after(1, 1));
    assertEquals(List.of(), log.after(all.get(2).number(), 10));
  }

  @Test
  void lineThatArrivesInPartsIsOneLine() {
    write("a ");
    write("gr");
    write("üße");

    assertEquals(List.of(), texts());
    assertEquals("a grüße", lines.lastLine());
    lines.end();
    assertEquals(List.of("a grüße"), texts());
  }

  @Test
  void longLineIsLoggedInPartsWithoutHalfACharacter() {
    write("x".repeat(4095) + "é" + "y".repeat(10) + "\n");

    assertEquals(List.of("x".repeat(4095) + "é", "y".repeat(10)), texts());
    assertEquals("y".repeat(10), lines.lastLine());
  }

  @Test
  void oldLinesAreDropped() {
    for (int i = 0; i < 3_000; i++) {
      log.add("stderr", 0, "line " + i);
    }
    assertEquals(2_000, texts().size());
    assertEquals("line 2999", texts().get(1_999));

    for (int i = 0; i < 200; i++) {
      log.add("stderr", 0, "x".repeat(4_096));
    }
    assertTrue(texts().stream().mapToInt(String::length).sum() <= 256 * 1024);
    assertFalse(texts().isEmpty());
  }

  @Test
  void secretsAreMaskedAndColoursRemoved() {
    write("\u001b[31mkey hunter2-long\u001b[0m and hunter2\n");

    assertEquals(List.of("key **** and ****"), texts());
    assertEquals("key **** and ****", lines.lastLine());
  }
}
