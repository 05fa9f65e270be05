package dev.mcpbridge.http.reply;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompressionTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "gzip",
        "GZip",
        "x-gzip",
        "gzip, deflate, br, zstd",
        "br;q=1.0, gzip;q=0.001",
        "deflate , gzip ; q=1",
        "*",
        "identity;q=0, *;q=0.5"
      })
  void gzipIsAccepted(String acceptEncoding) {
    assertTrue(Compression.accepts(acceptEncoding));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "identity",
        "br, deflate",
        "gzip;q=0",
        "gzip; q=0.000",
        "gzip;q=0, *",
        "*, gzip;q=0",
        "*;q=0",
        "gzipped",
        "notgzip",
        ";;;,,,"
      })
  void gzipIsNotAccepted(String acceptEncoding) {
    assertFalse(Compression.accepts(acceptEncoding));
  }

  @Test
  void whatWaitsForAWorkerCountsAsMemory() throws Exception {
    Vertx vertx = Vertx.vertx();
    MemoryBudget memory = new MemoryBudget(1 << 30);
    Compression compression = new Compression(vertx, Compressed.RESULTS, memory);
    CountDownLatch free = new CountDownLatch(1);
    try {
      Future<Buffer> waiting =
          compression.onWorker(
              1_000_000,
              () -> {
                free.await();
                return Buffer.buffer();
              });

      assertEquals(1_000_000, memory.held());
      free.countDown();
      waiting.await(20, TimeUnit.SECONDS);

      assertEquals(0, memory.held());
    } finally {
      free.countDown();
      vertx.close().await(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void whenAllWorkersAreBusyALargeBodyIsNotCompressed() throws Exception {
    Vertx vertx = Vertx.vertx();
    Compression compression = new Compression(vertx, Compressed.RESULTS, new MemoryBudget(1 << 30));
    CountDownLatch free = new CountDownLatch(1);
    try {
      for (int i = 0; i < 4; i++) {
        compression.onWorker(
            1,
            () -> {
              free.await();
              return Buffer.buffer();
            });
      }

      assertNull(compression.whole(Buffer.buffer(new byte[100_000])));
      assertTrue(compression.whole(Buffer.buffer(new byte[10_000])).succeeded());
    } finally {
      free.countDown();
      vertx.close().await(20, TimeUnit.SECONDS);
    }
  }
}
