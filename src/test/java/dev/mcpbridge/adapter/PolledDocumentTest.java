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
import io.vertx.junit5.VertxExtension;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(VertxExtension.class)
class PolledDocumentTest {
  private static final HttpAccess ACCESS = new HttpAccess(Map.of(), null, null);

  @TempDir private Path folder;
  private final BlockingQueue<String> parsed = new LinkedBlockingQueue<>();
  private Vertx vertx;
  private Path file;

  @BeforeEach
  void open(Vertx vertx) throws Exception {
    this.vertx = vertx;
    file = Files.writeString(folder.resolve("document"), "one");
  }

  @Test
  void reportsChangesAndKeepsThePreviousVersionOnErrors() throws Exception {
    // Given
    BlockingQueue<String> changes = new ArrayBlockingQueue<>(10);
    PolledDocument<String> polledDocument = newDocument();
    polledDocument.open().await(10, TimeUnit.SECONDS);
    polledDocument.watch(1, () -> changes.add(polledDocument.current()));

    // When
    write("two, which is longer");
    assertEquals("two, which is longer", changes.poll(10, TimeUnit.SECONDS));
    parsed.clear();
    write("broken");
    assertEquals("broken", parsed.poll(10, TimeUnit.SECONDS));

    // Then
    assertEquals("two, which is longer", polledDocument.current());
    write("three, after one that could not be used");
    assertEquals("three, after one that could not be used", changes.poll(10, TimeUnit.SECONDS));
    polledDocument.close();
  }

  @Test
  void openFailsWithTheErrorOfTheParser() throws Exception {
    write("broken");
    Future<String> read = newDocument().open();

    BridgeException failure =
        assertThrows(BridgeException.class, () -> read.await(10, TimeUnit.SECONDS));

    assertEquals("it is broken", failure.getMessage());
  }

  @Test
  void documentClosedWhileOpeningIsNeverPolled() throws Exception {
    // Given a document closed before it is watched, and a second one for the same file
    BlockingQueue<String> unexpected = new ArrayBlockingQueue<>(10);
    BlockingQueue<String> changes = new ArrayBlockingQueue<>(10);
    PolledDocument<String> closed = newDocument();
    Future<String> opening = closed.open();
    closed.close();
    opening.await(10, TimeUnit.SECONDS);
    closed.watch(1, () -> unexpected.add(closed.current()));
    PolledDocument<String> second = newDocument();
    second.open().await(10, TimeUnit.SECONDS);
    second.watch(20, () -> changes.add(second.current()));

    // When the file changes, twice
    for (String text : new String[] {"two, which is longer", "three, which is longer still"}) {
      write(text);
      assertEquals(text, changes.poll(10, TimeUnit.SECONDS));
    }

    // Then
    assertEquals(0, unexpected.size());
    second.close();
  }

  private PolledDocument<String> newDocument() {
    return new PolledDocument<>(
        vertx,
        "s",
        new DocumentFetcher(
            vertx,
            new HttpCaller(vertx, ACCESS, new MemoryBudget(1 << 20), () -> true),
            new DocumentSource.LocalFile(file),
            ACCESS),
        this::parse);
  }

  /** Atomically, so that no partial content is read. */
  private void write(String text) throws Exception {
    Path next = Files.writeString(folder.resolve("next"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private Future<String> parse(byte[] text) {
    String content = new String(text, StandardCharsets.UTF_8);
    parsed.add(content);
    return content.equals("broken")
        ? Future.failedFuture(new BridgeException(ErrorCode.START_FAILED, "it is broken"))
        : Future.succeededFuture(content);
  }
}
