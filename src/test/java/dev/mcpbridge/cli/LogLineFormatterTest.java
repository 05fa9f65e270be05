package dev.mcpbridge.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

/** The default format of the log: names and texts of others are in it. */
class LogLineFormatterTest {
  private static String formatted(String name) {
    LogRecord event = new LogRecord(Level.WARNING, "server={0}");
    event.setParameters(new Object[] {name});
    event.setLoggerName("dev.mcpbridge.X");
    event.setInstant(Instant.parse("2026-01-02T03:04:05.678Z"));
    return new LogLineFormatter().format(event);
  }

  @Test
  void anEventIsOneLineWhateverIsInIt() {
    String forged = "a\r\n2026-01-02T03:04:05.678Z INFO X all is well\u2028\u0085\u000b\u0000";

    String line = formatted(forged);

    assertEquals(1, line.lines().count(), line);
    assertTrue(line.startsWith("2026-01-02T03:04:05.678Z WARNING X server=a\\u000d\\u000a2026"));
    assertTrue(line.stripTrailing().endsWith("well\\u2028\\u0085\\u000b\\u0000"), line);
  }

  @Test
  void sequencesForTerminalsAndHiddenCharactersAreVisible() {
    assertTrue(formatted("\u001b[2J\u202eabc\u200b").contains("\\u001b[2J\\u202eabc\\u200b"));
  }

  @Test
  void aLongTextIsCut() {
    assertTrue(formatted("x".repeat(100_000)).length() < 4_100);
  }
}
