package dev.mcpbridge.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.config.DocumentSource;
import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolledDocumentTest {
  private static final HttpAccess ACCESS = new HttpAccess(Map.of(), null);

  @TempDir private Path folder;
  private final BlockingQueue<String> tried = new LinkedBlockingQueue<>();
  private Vertx vertx;
  private Path file;

  @BeforeEach
  void open() throws Exception {
    vertx = Vertx.vertx();
    file = Files.writeString(folder.resolve("document"), "one");
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().await(10, TimeUnit.SECONDS);
  }

  @Test
  void tellsOfAnotherDocumentAndKeepsTheOldOneWhereTheNextCannotBeUsed() throws Exception {
    // Given
    BlockingQueue<String> news = new ArrayBlockingQueue<>(10);
    PolledDocument<String> polledDocument = watched();
    polledDocument.open().await(10, TimeUnit.SECONDS);
    polledDocument.watch(1, () -> news.add(polledDocument.current()));

    // When
    write("two, which is longer");
    assertEquals("two, which is longer", news.poll(10, TimeUnit.SECONDS));
    tried.clear();
    write("broken");
    assertEquals("broken", tried.poll(10, TimeUnit.SECONDS));

    // Then
    assertEquals("two, which is longer", polledDocument.current());
    write("three, after one that could not be used");
    assertEquals("three, after one that could not be used", news.poll(10, TimeUnit.SECONDS));
    polledDocument.close();
  }

  @Test
  void aDocumentThatCannotBeUsedAtFirstFailsWithItsSentence() throws Exception {
    write("broken");
    Future<String> read = watched().open();

    BridgeException failure =
        assertThrows(BridgeException.class, () -> read.await(10, TimeUnit.SECONDS));

    assertEquals("it is broken", failure.getMessage());
  }

  @Test
  void whatIsClosedWhileItIsReadForTheFirstTimeIsNeverLookedAtAgain() throws Exception {
    // Given one that was closed before it could be watched, and another of the same file
    BlockingQueue<String> unwanted = new ArrayBlockingQueue<>(10);
    BlockingQueue<String> news = new ArrayBlockingQueue<>(10);
    PolledDocument<String> closed = watched();
    Future<String> reading = closed.open();
    closed.close();
    reading.await(10, TimeUnit.SECONDS);
    closed.watch(1, () -> unwanted.add(closed.current()));
    PolledDocument<String> other = watched();
    other.open().await(10, TimeUnit.SECONDS);
    other.watch(20, () -> news.add(other.current()));

    // When the file changes, twice
    for (String text : new String[] {"two, which is longer", "three, which is longer still"}) {
      write(text);
      assertEquals(text, news.poll(10, TimeUnit.SECONDS));
    }

    // Then
    assertEquals(0, unwanted.size());
    other.close();
  }

  private PolledDocument<String> watched() {
    return new PolledDocument<>(
        vertx,
        "s",
        new DocumentFetcher(
            vertx,
            new HttpCaller(vertx, ACCESS, new MemoryBudget(1 << 20), () -> true),
            new DocumentSource.LocalFile(file),
            ACCESS),
        this::understood);
  }

  /** At once, so that nobody reads half of it. */
  private void write(String text) throws Exception {
    Path next = Files.writeString(folder.resolve("next"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private Future<String> understood(byte[] text) {
    String words = new String(text, StandardCharsets.UTF_8);
    tried.add(words);
    return words.equals("broken")
        ? Future.failedFuture(new BridgeException(ErrorCode.START_FAILED, "it is broken"))
        : Future.succeededFuture(words);
  }
}
