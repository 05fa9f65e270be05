package dev.mcpbridge.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.audit.AuditVerifier.Report;
import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.config.AuditConfig.Content;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Trails that were written, and what was done to them. */
class AuditTrailTest {
  private static final AuditConfig CONFIG = config(Content.DIGEST, 1 << 20);

  @TempDir private Path folder;

  private static AuditConfig config(Content content, long segmentBytes) {
    return new AuditConfig(null, true, false, content, segmentBytes, 1L << 40, 1L << 40);
  }

  private AuditLog opened(AuditConfig config) throws Exception {
    AuditLog log = new AuditLog(config, folder, null);
    log.open();
    return log;
  }

  private static AuditRecord record(int number) {
    return new AuditRecord("call.decision")
        .with("call", "c" + number)
        .with("name", "tool \"ü\" \n " + number)
        .withArguments(JsonSlice.of("{\"id\":" + number + "}"));
  }

  /** Writes a trail of these many records and closes it. */
  private void write(AuditConfig config, int records) throws Exception {
    AuditLog log = opened(config);
    for (int i = 0; i < records; i++) {
      log.append(record(i));
    }
    log.close();
  }

  private Report verified() throws IOException {
    return AuditVerifier.verify(folder, null);
  }

  private List<Path> files() throws IOException {
    return Segments.in(folder);
  }

  private void change(Path file, UnaryOperator<List<String>> change) throws IOException {
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    Files.writeString(file, String.join("\n", change.apply(lines)) + "\n");
  }

  @Test
  void trailThatWasNotTouchedIsRight() throws Exception {
    write(CONFIG, 100);

    Report report = verified();

    assertNull(report.error());
    assertEquals(1, report.first());
    assertEquals(102, report.last(), "with the first record of the file and the checkpoint");
    assertEquals(1, report.checkpoints());
    assertEquals(0, report.unsigned());
  }

  @Test
  void everyChangedByteIsFoundAndItsRecordNamed() throws Exception {
    // Given
    write(CONFIG, 3);
    Path file = files().get(0);
    byte[] text = Files.readAllBytes(file);

    for (int at = 0; at < text.length; at++) {
      // When
      byte[] changed = text.clone();
      changed[at] ^= 1;
      Files.write(file, changed);

      // Then
      String error = verified().error();
      assertNotNull(error, "byte " + at);
      long line = new String(text, 0, at, StandardCharsets.ISO_8859_1).split("\n", -1).length;
      boolean isTheEnd = at == text.length - 1;
      String expected = isTheEnd ? "missing at the end" : " line " + line;
      assertTrue(error.contains(expected), "byte " + at + ": " + error);
    }
  }

  @ParameterizedTest
  @CsvSource({"dropped", "swapped", "inserted", "repeated", "cut", "cutWithoutLineFeed"})
  void changedLinesAreFound(String change) throws Exception {
    // Given
    write(CONFIG, 20);
    Path file = files().get(0);

    // When
    change(
        file,
        lines -> {
          switch (change) {
            case "dropped" -> lines.remove(7);
            case "swapped" -> Collections.swap(lines, 7, 8);
            case "inserted" -> lines.add(7, lines.get(7).replace("c6", "c9"));
            case "repeated" -> lines.add(7, lines.get(7));
            case "cut" -> lines.remove(lines.size() - 1);
            default -> lines.set(lines.size() - 1, "");
          }
          return lines;
        });

    // Then
    assertNotNull(verified().error());
  }

  @Test
  void trailThatWasWrittenAnewWithAnotherKeyIsFoundByTheKeyThatWasKept() throws Exception {
    // Given
    write(CONFIG, 5);
    String kept = AuditVerifier.publicKey(folder.resolve("audit.pub"));
    try (var all = Files.list(folder)) {
      for (Path file : all.toList()) {
        Files.delete(file);
      }
    }
    write(CONFIG, 5);

    // Then
    assertNull(verified().error());
    assertTrue(AuditVerifier.verify(folder, kept).error().contains("another public key"));
  }

  @Test
  void trailGoesOnAfterARestart() throws Exception {
    write(CONFIG, 5);
    write(CONFIG, 5);

    Report report = verified();

    assertNull(report.error());
    assertEquals(14, report.last());
    assertEquals(2, files().size());
    assertTrue(
        Files.readString(files().get(1)).contains("\"continues\":\"audit-000000000001.jsonl\""));
  }

  @Test
  void fullFilesAreClosedWithACheckpointAndExpiredOnesGo() throws Exception {
    // Given
    AuditConfig small = new AuditConfig(null, true, false, Content.NONE, 4_000, 1L << 40, 20_000);

    // When
    for (int i = 0; i < 20; i++) {
      write(small, 40);
    }

    // Then
    Report report = verified();
    assertNull(report.error());
    assertTrue(report.first() > 1, report.toString());
    assertTrue(report.notes().toString().contains("expired"), report.toString());

    // When
    Files.delete(files().get(0));

    // Then
    assertTrue(verified().error().contains("did not expire"));
  }

  @Test
  void fileThatIsMissingInTheMiddleIsFound() throws Exception {
    for (int i = 0; i < 3; i++) {
      write(CONFIG, 5);
    }

    Files.delete(files().get(1));

    assertTrue(verified().error().contains("is missing"));
  }

  @Test
  void crashInTheMiddleOfALineLosesThatLineOnly() throws Exception {
    // Given
    write(CONFIG, 5);
    Path file = files().get(0);
    byte[] text = Files.readAllBytes(file);
    int lastLine = new String(text, StandardCharsets.ISO_8859_1).lastIndexOf('\n', text.length - 2);
    Files.write(file, Arrays.copyOf(text, lastLine + 30));
    Files.delete(folder.resolve("audit.head"));

    // Then
    assertNull(verified().error());
    assertTrue(verified().notes().toString().contains("not complete"));

    // When
    write(CONFIG, 5);

    // Then
    Report report = verified();
    assertNull(report.error());
    assertTrue(report.notes().toString().contains("killed while it wrote"), report.toString());
  }

  @Test
  void damagedEndPreventsTheStart() throws Exception {
    write(CONFIG, 5);
    change(
        files().get(0),
        lines -> {
          lines.set(lines.size() - 1, lines.get(lines.size() - 1).replace("checkpoint", "other"));
          return lines;
        });

    IOException e = assertThrows(IOException.class, () -> opened(CONFIG));

    assertTrue(e.getMessage().contains("is damaged"), e.getMessage());
  }

  @Test
  void secondWriterIsRefused() throws Exception {
    AuditLog first = opened(CONFIG);

    IOException e = assertThrows(IOException.class, () -> opened(CONFIG));

    assertTrue(e.getMessage().contains("another bridge writes"), e.getMessage());
    first.close();
    opened(CONFIG).close();
  }

  @ParameterizedTest
  @CsvSource({"NONE,false,false", "DIGEST,true,false", "FULL,true,true"})
  void argumentsAreInARecordAsConfigured(Content content, boolean hasDigest, boolean hasText)
      throws Exception {
    write(config(content, 1 << 20), 1);

    String text = Files.readString(files().get(0));

    assertEquals(hasDigest, text.contains("\"arguments_digest\":\"hmac-sha256:"), text);
    assertEquals(hasText, text.contains("\"arguments\":{\"id\":0}"), text);
    assertNull(verified().error());
  }

  @Test
  void durableRecordIsOnTheDiskWhenItsSenderIsTold() throws Exception {
    // Given
    AuditLog log = opened(CONFIG);
    CountDownLatch durable = new CountDownLatch(1);

    // When
    log.append(record(1), durable::countDown);

    // Then
    assertTrue(durable.await(10, TimeUnit.SECONDS));
    assertTrue(Files.readString(files().get(0)).contains("\"call\":\"c1\""));
    assertTrue(log.mayRun());
    log.close();
  }
}
