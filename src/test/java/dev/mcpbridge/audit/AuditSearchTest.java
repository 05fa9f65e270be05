package dev.mcpbridge.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.config.AuditConfig.Content;
import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.NIOFSDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches in a trail of several files. */
class AuditSearchTest {
  private static final AuditConfig CONFIG =
      new AuditConfig(null, true, false, Content.DIGEST, 1 << 20, 1L << 40, 1L << 40);

  @TempDir private Path folder;

  @BeforeEach
  void write() throws Exception {
    for (int file = 0; file < 4; file++) {
      AuditLog log = new AuditLog(CONFIG, folder, null);
      log.open();
      for (int i = 0; i < 50; i++) {
        log.append(
            new AuditRecord("call.decision")
                .with(i % 7 == 0 ? "approver" : "principal", "user \"" + i % 3)
                .with("server", "s" + i % 5)
                .with("decision", i % 2 == 0 ? "allow" : "refuse")
                .withArguments(JsonSlice.of("{\"id\":" + i + "}")));
      }
      log.close();
    }
  }

  private static AuditQuery query(Map<String, String> members, String principal, int limit) {
    return new AuditQuery(members, principal, 0, Long.MAX_VALUE, Long.MAX_VALUE, limit);
  }

  private List<Long> expected(AuditQuery query) throws IOException {
    List<Long> numbers = new ArrayList<>();
    AuditReader.read(
        folder,
        line -> {
          if (line.matches(query)) {
            numbers.add(line.seq());
          }
        });
    Collections.reverse(numbers);
    return numbers;
  }

  /** All results, page by page. */
  private List<Long> found(AuditQuery query) throws IOException {
    List<Long> numbers = new ArrayList<>();
    AuditQuery next = query;
    while (next.before() > 0) {
      AuditPage page = new AuditSearch(folder).search(next);
      assertTrue(page.lines().size() <= query.limit());
      for (AuditPage.Line line : page.lines()) {
        assertEquals(line.seq(), Json.tree(line.text()).path("seq").asLong());
        numbers.add(line.seq());
      }
      next = query.withBefore(page.next());
    }
    return numbers;
  }

  private void assertFindsAll() throws IOException {
    for (AuditQuery query :
        List.of(
            query(Map.of(), null, 1000),
            query(Map.of(), null, 7),
            query(Map.of("server", "s3"), null, 10),
            query(Map.of("server", "s3", "decision", "refuse"), "user \"1", 3),
            query(Map.of("event", "checkpoint"), null, 1),
            query(Map.of(), "user \"0", 10),
            query(Map.of("server", "unknown"), null, 10))) {
      assertEquals(expected(query), found(query), query.toString());
    }
    assertFalse(expected(query(Map.of("server", "s3"), "user \"1", 3)).isEmpty());
  }

  private List<Path> indexes() throws IOException {
    try (Stream<Path> indexes = Files.list(folder.resolve("index"))) {
      return indexes.sorted().toList();
    }
  }

  @Test
  void findsWhatReadingAllWouldFindTheNewestFirst() throws IOException {
    assertFindsAll();
    assertFindsAll();

    assertEquals(3, indexes().size(), "the file that is written has none");
  }

  @ParameterizedTest
  @ValueSource(strings = {"garbage", "empty", "deleted"})
  void damagedIndexIsMadeAnew(String damage) throws IOException {
    // Given
    assertFindsAll();

    // When
    try (Stream<Path> files = Files.list(indexes().get(1))) {
      for (Path file : files.toList()) {
        switch (damage) {
          case "garbage" -> Files.writeString(file, "no index");
          case "empty" -> Files.write(file, new byte[0]);
          default -> Files.delete(file);
        }
      }
    }

    // Then
    assertFindsAll();
    assertFindsAll();
    assertEquals(3, indexes().size());
  }

  /** It has no entries for members that can be searched since. */
  @Test
  void indexOfAnEarlierVersionIsMadeAnew() throws IOException {
    // Given
    assertFindsAll();
    Path file = Segments.in(folder).get(0);
    String size = Files.size(file) + " " + Files.getLastModifiedTime(file).toMillis();
    try (Directory index = new NIOFSDirectory(indexes().get(0));
        IndexWriter writer = new IndexWriter(index, new IndexWriterConfig())) {
      writer.deleteAll();
      writer.setLiveCommitData(Map.of("indexed", size).entrySet());
    }

    // Then
    assertFindsAll();
  }

  /** The files were moved away, and the index stayed. */
  @Test
  void indexOfAnotherFileWithTheSameNameIsNotUsed() throws Exception {
    // Given
    assertFindsAll();
    for (Path file : Segments.in(folder)) {
      Files.delete(file);
    }
    for (String file : List.of("audit.key", "audit.pub", "audit.head")) {
      Files.delete(folder.resolve(file));
    }

    // When
    for (int file = 0; file < 2; file++) {
      AuditLog log = new AuditLog(CONFIG, folder, null);
      log.open();
      log.append(new AuditRecord("call.decision").with("server", "s3"));
      log.close();
    }

    // Then
    AuditQuery query = query(Map.of("server", "s3"), null, 10);
    assertEquals(2, found(query).size());
    assertEquals(expected(query), found(query));
  }

  @ParameterizedTest
  @ValueSource(ints = {10_000, 65_000})
  void largeRecordsAreFoundInSmallPages(int size) throws Exception {
    // Given
    AuditConfig full =
        new AuditConfig(null, true, false, Content.FULL, 1 << 20, 1L << 40, 1L << 40);
    for (int file = 0; file < 2; file++) {
      AuditLog log = new AuditLog(full, folder, null);
      log.open();
      for (int i = 0; i < 400; i++) {
        String text = "x".repeat(i % 3 == 0 ? size : 10);
        log.append(
            new AuditRecord("call.decision")
                .with("server", "large")
                .withArguments(JsonSlice.of("{\"m\":\"" + text + "\"}")));
      }
      log.close();
    }

    // Then
    AuditQuery query = query(Map.of("server", "large"), null, 1000);
    AuditPage page = new AuditSearch(folder).search(query);
    assertTrue(page.lines().stream().mapToLong(line -> line.text().length()).sum() < 3 << 20);
    assertTrue(page.next() > 0 || size < 60_000);
    assertEquals(800, found(query).size());
    assertEquals(expected(query), found(query));
  }

  @Test
  void timesLimitTheSearch() throws IOException {
    long now = System.currentTimeMillis();
    AuditQuery future =
        new AuditQuery(Map.of(), null, now + 60_000, Long.MAX_VALUE, Long.MAX_VALUE, 10);
    AuditQuery past = new AuditQuery(Map.of(), null, 0, now - 3_600_000, Long.MAX_VALUE, 10);

    assertEquals(List.of(), found(future));
    assertEquals(List.of(), found(past));
  }

  @Test
  void deletedFileLosesItsIndexToo() throws Exception {
    // Given
    assertFindsAll();

    // When
    AuditLog log =
        new AuditLog(
            new AuditConfig(null, true, false, Content.NONE, 1 << 20, 1L << 40, 1), folder, null);
    log.open();
    log.close();

    // Then
    assertEquals(List.of(), indexes());
    assertFindsNothingOlder();
  }

  /** As if a search had made it while its file was deleted. */
  @Test
  void indexWithoutAFileIsDeletedAndWhatCannotBeDeletedStopsNothing() throws Exception {
    // Given
    Path orphan = folder.resolve("index/audit-000000099999");
    Files.createDirectories(orphan);
    Files.writeString(orphan.resolve("segments_1"), "x");
    Path stuck = folder.resolve("index/audit-000000099998/folder/file");
    Files.createDirectories(stuck.getParent());
    Files.writeString(stuck, "x");

    // When
    AuditLog log = new AuditLog(CONFIG, folder, null);
    log.open();
    log.close();

    // Then
    assertFalse(Files.exists(orphan));
    assertTrue(Files.exists(stuck));
    assertEquals(0, log.lost());
    assertFindsAll();
  }

  @Test
  void searchWithoutRoomForAnIndexReadsTheFiles() throws Exception {
    Files.writeString(folder.resolve("index"), "a file in the place of the folder");

    assertFindsAll();
  }

  @Test
  void indexesCountTowardsTheSizeOfTheTrail() throws Exception {
    // Given
    long files = 0;
    for (Path file : Segments.in(folder)) {
      files += Files.size(file);
    }
    assertFindsAll();
    AuditConfig tight =
        new AuditConfig(null, true, false, Content.NONE, 1 << 20, 1L << 40, files + 8_192);

    // When
    AuditLog log = new AuditLog(tight, folder, null);
    log.open();
    log.close();

    // Then
    assertTrue(Segments.in(folder).size() < 5, "the oldest is deleted");
  }

  private void assertFindsNothingOlder() throws IOException {
    AuditQuery all = query(Map.of(), null, 1000);
    assertEquals(expected(all), found(all));
  }
}
