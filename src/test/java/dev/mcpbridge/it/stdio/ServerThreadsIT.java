package dev.mcpbridge.it.stdio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.TestBridge;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Servers on the event loop or on worker threads. */
@Tag("stdio")
class ServerThreadsIT {

  private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
  private final Thread.UncaughtExceptionHandler before =
      Thread.getDefaultUncaughtExceptionHandler();

  @BeforeEach
  void recordUncaughtExceptions() {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
  }

  @AfterEach
  void restoreHandler() {
    Thread.setDefaultUncaughtExceptionHandler(before);
  }

  @ParameterizedTest
  @CsvSource({"loop, false", "worker, true"})
  void serversRunOnTheConfiguredThreads(String threads, boolean hasWorkers) throws Exception {
    try (TestBridge bridge =
        TestBridge.of(config(threads, "'a':%1$s,'b':%1$s".formatted(TestBridge.entry(""))))) {
      bridge.until(() -> bridge.state("a").equals("ready") && bridge.state("b").equals("ready"));

      assertEquals(200, bridge.post("/servers/a/tools/echo", "{\"text\":\"hi\"}").status());
      assertEquals(200, bridge.post("/servers/b/tools/echo", "{\"text\":\"hi\"}").status());

      assertEquals(hasWorkers, hasWorkerThreads());
    }

    assertEquals(List.of(), uncaught, "the threads outlive the last task of a server");
  }

  @Test
  void aReloadDoesNotChangeTheThreads() throws Exception {
    String server = TestBridge.entry("");
    try (TestBridge bridge = TestBridge.of(config("loop", "'a':" + server)).awaitReady("a")) {
      bridge.reload(config("worker", "'a':" + server + ",'b':" + server));
      bridge.awaitReady("b");

      assertEquals(200, bridge.post("/servers/b/tools/echo", "{}").status());
      assertEquals(false, hasWorkerThreads());
    }

    assertEquals(List.of(), uncaught);
  }

  private static String config(String threads, String servers) {
    return "{'threads':{'servers':'%s'},'mcpServers':{%s}}".formatted(threads, servers);
  }

  private static boolean hasWorkerThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("mcp-servers-"));
  }
}
