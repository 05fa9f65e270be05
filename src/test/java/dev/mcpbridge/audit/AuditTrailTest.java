package dev.mcpbridge.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.audit.AuditVerifier.Report;
import dev.mcpbridge.audit.AuditWriter.Entry;
import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.config.AuditConfig.Content;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
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
    return AuditVerifier.verify(folder, null, null);
  }

  private List<Path> files() throws IOException {
    return Segments.in(folder);
  }

  private void change(Path file, UnaryOperator<List<String>> change) throws IOException {
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    Files.writeString(file, String.join("\n", change.apply(lines)) + "\n");
  }

  /** With limits.depth at its maximum. */
  @Test
  void deepArgumentsMakeNoLineThatCannotBeRead() throws Exception {
    AuditLog log = opened(config(Content.FULL, 1 << 20));
    for (int levels : new int[] {900, 901, 1_000}) {
      String arguments = "{\"m\":" + "[".repeat(levels - 1) + "]".repeat(levels - 1) + "}";
      log.append(
          new AuditRecord("call.decision")
              .with("name", "levels " + levels)
              .withArguments(JsonSlice.of(arguments)));
    }
    log.close();

    List<String> whole = new ArrayList<>();
    AuditReader.read(
        folder,
        line -> {
          if (line.record().has("arguments")) {
            whole.add(line.record().path("name").asText());
          }
        });

    assertEquals(List.of("levels 900"), whole);
    assertNull(verified().error());
  }

  @Test
  void trailThatWasNotTouchedIsRight() throws Exception {
    write(CONFIG, 100);

    Report report = verified();

    assertNull(report.error());
    assertEquals(1, report.first());
    assertEquals(103, report.last(), "with the first record of the file and two checkpoints");
    assertEquals(2, report.checkpoints());
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
  @CsvSource({
    "dropped, ' line 8'",
    "swapped, ' line 8'",
    "inserted, ' line 8'",
    "repeated, ' line 9'",
    "cut, records 23 to 23 are missing at the end",
    "emptied, ' line 23'"
  })
  void changedLinesAreFoundAndTheFirstIsNamed(String change, String where) throws Exception {
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
            case "inserted" -> lines.add(7, lines.get(7).replace("\"call\":\"c", "\"call\":\"d"));
            case "repeated" -> lines.add(7, lines.get(7));
            case "cut" -> lines.remove(lines.size() - 1);
            default -> lines.set(lines.size() - 1, "");
          }
          return lines;
        });

    // Then
    String error = verified().error();
    assertTrue(error != null && error.contains(where), error);
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
    assertTrue(AuditVerifier.verify(folder, kept, null).error().contains("another public key"));
  }

  @Test
  void trailGoesOnAfterARestart() throws Exception {
    write(CONFIG, 5);
    write(CONFIG, 5);

    Report report = verified();

    assertNull(report.error());
    assertEquals(16, report.last());
    assertEquals(2, files().size());
    assertTrue(
        Files.readString(files().get(1)).contains("\"continues\":\"audit-000000000001.jsonl\""));
  }

  @Test
  void fullFilesAreClosedWithACheckpointAndExpiredOnesGo() throws Exception {
    // Given
    AuditConfig small = new AuditConfig(null, true, false, Content.NONE, 4_000, 1L << 40, 20_000);

    // When
    write(small, 40);
    Path kept = Files.copy(folder.resolve("audit.head"), folder.resolve("kept"));
    for (int i = 0; i < 20; i++) {
      write(small, 40);
    }

    // Then
    Report report = verified();
    assertNull(report.error());
    assertTrue(report.first() > 1, report.toString());
    assertTrue(report.notes().toString().contains("expired"), report.toString());
    String incomparable = AuditVerifier.verify(folder, null, kept).error();
    assertTrue(incomparable.contains("older than the first record"), incomparable);

    // When
    Files.delete(files().get(0));

    // Then
    assertTrue(verified().error().contains("did not expire"));
  }

  @Test
  void deletionThatNoCheckpointSignsIsNotBelieved() throws Exception {
    // Given
    write(CONFIG, 5);
    write(CONFIG, 5);
    Path last = files().get(1);
    AuditKey key = AuditKey.in(folder, false);
    List<String> lines = Files.readAllLines(last);
    String line = lines.get(lines.size() - 1);
    JsonWriter forged = new JsonWriter();

    // When
    new Chain(null, verified().last(), Chain.hash(line.getBytes(StandardCharsets.UTF_8)))
        .write(
            forged,
            new AuditRecord("retention").with("deleted", "audit-000000000001.jsonl"),
            new ArgumentsRule(Content.NONE, key.derived("arguments/1")));
    Files.writeString(last, forged.toSlice().text(), StandardOpenOption.APPEND);
    Report before = verified();
    Files.delete(files().get(0));

    // Then
    assertNull(before.error());
    assertEquals(1, before.unsigned());
    assertTrue(verified().error().contains("did not expire"), verified().error());
  }

  @Test
  void expiredFileThatCannotBeDeletedStaysAndTheTrailGoesOn() throws Exception {
    // Given
    AuditConfig small = new AuditConfig(null, true, false, Content.NONE, 4_000, 1L << 40, 20_000);
    write(small, 40);
    Path undeletable = Files.createDirectory(folder.resolve("audit-000000000000.jsonl"));
    Files.createFile(undeletable.resolve("file"));

    // When
    AuditLog log = opened(small);
    for (int i = 0; i < 200; i++) {
      CompletableFuture<Boolean> isWritten = new CompletableFuture<>();
      log.append(record(i), isWritten::complete);
      assertTrue(isWritten.get(10, TimeUnit.SECONDS));
    }
    assertTrue(log.mayRun());
    log.close();

    // Then
    long deletions =
        files().stream().filter(Files::isRegularFile).mapToLong(AuditTrailTest::deletions).sum();
    assertTrue(files().size() > 3, files().toString());
    Files.delete(undeletable.resolve("file"));
    Files.delete(undeletable);
    assertNull(verified().error());
    assertTrue(deletions <= 1, deletions + " records of its deletion");
  }

  @Test
  void checkpointThatCannotBeKeptBesideTheFilesIsKeptOnceItCanBe() throws Exception {
    // Given
    AuditLog log = opened(config(Content.NONE, 2_000));
    Path blocker = Files.createDirectory(folder.resolve("audit.head.new"));
    Files.createFile(blocker.resolve("file"));

    // When
    for (int i = 0; i < 20; i++) {
      log.append(record(i));
    }
    awaitThat(() -> !log.mayRun());
    Files.delete(blocker.resolve("file"));
    Files.delete(blocker);

    // Then
    awaitThat(log::mayRun);
    assertTrue(log.head().seq() > 2, log.head().toString());
    log.close();
    Report report = verified();
    assertNull(report.error());
    assertTrue(report.checkpoints() <= 2L * files().size() + 1, report.toString());
  }

  private static void awaitThat(BooleanSupplier condition) {
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
          }
        });
  }

  private static long deletions(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> line.contains("audit-000000000000.jsonl"))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void fileThatIsMissingInTheMiddleIsFound() throws Exception {
    for (int i = 0; i < 3; i++) {
      write(CONFIG, 5);
    }

    Files.delete(files().get(1));

    assertTrue(verified().error().contains("is missing"));
  }

  /** Writes a trail, and leaves it as if the process had ended within its last line. */
  private void crash(AuditRecord last, int tornBytes) throws Exception {
    AuditLog log = opened(CONFIG);
    byte[] head = Files.readAllBytes(folder.resolve("audit.head"));
    log.append(record(1));
    log.append(last);
    log.close();
    Path file = files().get(files().size() - 1);
    byte[] text = Files.readAllBytes(file);
    String all = new String(text, StandardCharsets.ISO_8859_1);
    int checkpoint = all.lastIndexOf('\n', text.length - 2);
    int torn = all.lastIndexOf('\n', checkpoint - 1) + 1;
    Files.write(file, Arrays.copyOf(text, Math.min(checkpoint, torn + tornBytes)));
    Files.write(folder.resolve("audit.head"), head);
  }

  @Test
  void crashInTheMiddleOfALineLosesThatLineOnly() throws Exception {
    // Given
    crash(record(2), 30);

    // Then
    assertNull(verified().error());
    assertTrue(verified().notes().toString().contains("not complete"));

    // When
    write(CONFIG, 5);

    // Then
    Report report = verified();
    assertNull(report.error());
    assertTrue(report.notes().toString().contains("while it wrote"), report.toString());
    assertTrue(Files.readString(files().get(0)).contains("\"call\":\"c1\""));
  }

  @Test
  void crashInTheMiddleOfAVeryLongLineLosesThatLineOnly() throws Exception {
    // Given
    AuditRecord wide = new AuditRecord("wide").with("texts", List.of("x".repeat(3 << 20)));
    crash(wide, 2 << 20);

    // When
    write(CONFIG, 5);

    // Then
    assertNull(verified().error());
    assertTrue(Files.readString(files().get(0)).contains("\"call\":\"c1\""));
  }

  @Test
  void senderThatFailsStopsNeitherTheTrailNorTheOthers() throws Exception {
    // Given
    Consumer<Boolean> failing =
        isWritten -> {
          throw new IllegalStateException("stopped");
        };
    AuditLog log = opened(CONFIG);
    for (int i = 0; i < 200; i++) {
      log.append(record(i), failing);
    }
    CompletableFuture<Boolean> other = new CompletableFuture<>();

    // When
    log.append(record(200), other::complete);

    // Then
    assertTrue(other.get(10, TimeUnit.SECONDS));
    assertTrue(log.mayRun());
    log.close();
    log.append(record(201), failing);
    assertEquals(1, log.lost());
    assertNull(verified().error());
    assertEquals(201, records());
  }

  private long records() throws IOException {
    long records = 0;
    for (Path file : files()) {
      records +=
          Files.readAllLines(file).stream().filter(line -> line.contains("call.decision")).count();
    }
    return records;
  }

  @Test
  void busyTrailHasACheckpointAfterTenThousandRecords() throws Exception {
    write(config(Content.DIGEST, 1 << 30), 12_000);

    Report report = verified();

    assertNull(report.error());
    assertEquals(1, files().size());
    assertEquals(3, report.checkpoints(), "at the start, in between and at the end");
  }

  @Test
  void batchThatCannotBeWrittenLeavesTheTrailAsItWas() throws Exception {
    // Given
    AuditWriter writer = new AuditWriter(CONFIG, folder, null);
    writer.open();

    // When
    assertThrows(
        NullPointerException.class,
        () -> writer.write(List.of(new Entry(record(1), null), new Entry(null, null)), 0));
    writer.write(List.of(new Entry(record(2), null)), 0);
    writer.finish();
    writer.close();

    // Then
    assertNull(verified().error());
    assertEquals(1, records());
  }

  @Test
  void trailThatWasCutOffDoesNotGoOn() throws Exception {
    // Given
    write(CONFIG, 5);
    write(CONFIG, 5);
    Files.delete(files().get(1));

    // When
    IOException e = assertThrows(IOException.class, () -> opened(CONFIG));

    // Then
    assertTrue(e.getMessage().contains("ends with record 8, but had 16"), e.getMessage());
  }

  @Test
  void trailWithoutItsHeadOrWithAForgedOneIsWrong() throws Exception {
    // Given
    write(CONFIG, 5);
    Path head = folder.resolve("audit.head");
    String text = Files.readString(head);

    // When
    Files.writeString(head, text.replace("\"seq\":8", "\"seq\":99"));

    // Then
    assertTrue(verified().error().contains("the signature of audit.head"));

    // When
    Files.delete(head);

    // Then
    assertTrue(verified().error().contains("audit.head is missing"));
  }

  @Test
  void headThatWasKeptElsewhereShowsThatATrailWasSetBack() throws Exception {
    // Given
    AuditLog log = opened(CONFIG);
    Path first = Files.copy(folder.resolve("audit.head"), folder.resolve("first"));
    log.append(record(1));
    log.close();
    Path kept = Files.copy(folder.resolve("audit.head"), folder.resolve("kept"));

    // When
    change(files().get(0), lines -> lines.subList(0, 2));
    Files.copy(first, folder.resolve("audit.head"), StandardCopyOption.REPLACE_EXISTING);

    // Then
    assertNull(verified().error());
    assertTrue(AuditVerifier.verify(folder, null, kept).error().contains("missing at the end"));
  }

  @Test
  void trailWithoutItsKeyDoesNotGoOn() throws Exception {
    write(CONFIG, 5);
    Files.delete(folder.resolve("audit.key"));

    assertThrows(IOException.class, () -> opened(CONFIG));
  }

  @Test
  void longTextsAreCutAndUnusualNumbersAreKept() throws Exception {
    // Given
    AuditLog log = opened(config(Content.FULL, 1 << 20));

    // When
    log.append(
        new AuditRecord("call.decision")
            .with("name", "n".repeat(4 << 20))
            .withArguments(JsonSlice.of("{\"x\":0e99999999999,\"y\":1e-99999999999}")));
    log.close();

    // Then
    assertNull(verified().error());
    assertTrue(Files.size(files().get(0)) < 10_000);
    assertTrue(Files.readString(files().get(0)).contains("\"name_length\":4194304"));
    opened(CONFIG).close();
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
    CompletableFuture<Boolean> written = new CompletableFuture<>();

    // When
    log.append(record(1), written::complete);

    // Then
    assertTrue(written.get(10, TimeUnit.SECONDS));
    assertTrue(Files.readString(files().get(0)).contains("\"call\":\"c1\""));
    assertTrue(log.mayRun());
    log.close();
  }

  @Test
  void senderOfALostRecordIsToldThatItIsLost() throws Exception {
    // Given
    AuditLog log = opened(CONFIG);
    log.close();
    CompletableFuture<Boolean> written = new CompletableFuture<>();

    // When
    log.append(record(1), written::complete);

    // Then
    assertFalse(written.get(10, TimeUnit.SECONDS));
    assertEquals(1, log.lost());
  }

  /** An interrupt closes the file, so that each write fails from then on. */
  @Test
  void senderIsToldOfARecordThatCouldNotBeWrittenUntilTheEnd() throws Exception {
    // Given
    AuditLog log = opened(CONFIG);
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("mcp-audit"))
        .forEach(Thread::interrupt);
    CompletableFuture<Boolean> written = new CompletableFuture<>();
    log.append(record(1), written::complete);
    assertTimeoutPreemptively(
        Duration.ofSeconds(10),
        () -> {
          while (log.mayRun()) {
            Thread.onSpinWait();
          }
        });

    // When
    log.close();

    // Then
    assertFalse(written.get(10, TimeUnit.SECONDS));
    assertTrue(log.lost() >= 1);
  }
}
