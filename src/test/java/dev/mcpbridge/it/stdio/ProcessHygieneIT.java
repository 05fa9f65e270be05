package dev.mcpbridge.it.stdio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.mcpbridge.fixture.LongForm;
import dev.mcpbridge.fixture.OwnProcess;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** No process, file descriptor or thread leaks. */
@Tag("stdio")
@Tag("slow")
class ProcessHygieneIT {
  /** The sleep of the grandchildren of this test; no other test uses it. */
  private static final String SECONDS = "28" + ProcessHandle.current().pid();

  @Test
  @EnabledOnOs(OS.LINUX)
  void startsAndStopsLeaveNoProcessesBehind() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      cycle(bridge, 5);
      long descriptors = OwnProcess.descriptors();
      long threads = threads();

      cycle(bridge, LongForm.times(20, 95));

      bridge.until(() -> sleepers() == 0);
      bridge.until(() -> OwnProcess.descriptors() <= descriptors + 5);
      bridge.until(() -> threads() <= threads + 5);
      bridge.assertAlive();
    }
  }

  /** Without the worker threads of Vert.x, which begins them up to a fixed number. */
  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !thread.getName().startsWith("vert.x-worker-thread-"))
        .count();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void aDetachedDaemonEndsWithItsServer() throws Exception {
    Requirements.program("setsid");
    assertDaemonEnds("'daemon':'2719001'");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void anAdoptedDaemonEndsWithItsControlGroup() throws Exception {
    assertDaemonEnds("'daemon':'2719002','adopted':1");
  }

  private static void assertDaemonEnds(String arguments) throws Exception {
    String command = "sleep " + arguments.replaceAll("\\D*(\\d{7}).*", "$1");
    try (TestBridge bridge = TestBridge.scripted("")) {
      Path groups = Path.of("/proc", bridge.pids("s").get(0).toString(), "cgroup");
      assumeTrue(
          !arguments.contains("adopted") || Files.readString(groups).contains("/mcp-bridge-"),
          "skipped: this user may not create control groups");
      bridge.call("grandchild", TestBridge.json("{" + arguments + "}"));
      bridge.until(() -> running(command) == 1);

      assertEquals(200, bridge.delete("/servers/s").status());

      assertEquals(0, running(command));
    }
  }

  @Test
  void aStubbornServerIsKilledAfterItsGracePeriod() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("", "--stubborn")) {
      long pid = bridge.pids("s").get(0);
      long from = System.nanoTime();

      assertEquals(200, bridge.delete("/servers/s").status());

      assertTrue(System.nanoTime() - from < 8_000_000_000L);
      assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }
  }

  @Test
  void aRestartReplacesTheProcessAndLosesNoQueuedCall() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("'maxInFlight':1")) {
      long pid = bridge.pids("s").get(0);
      List<CompletableFuture<TestBridge.Answer>> calls =
          Stream.generate(() -> bridge.callLater("sleep", "{\"ms\":400}")).limit(10).toList();
      bridge.until(() -> bridge.get("/servers/s").body().path("queued_calls").asInt() > 3);

      assertEquals(200, bridge.post("/servers/s/restart", "{}").status());

      calls.forEach(call -> assertEquals(200, call.join().status(), call.join().text()));
      assertTrue(bridge.pids("s").get(0) != pid);
      assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }
  }

  @Test
  void aReloadAffectsOnlyChangedServers() throws Exception {
    String stays = "'stays':" + TestBridge.entry("");
    try (TestBridge bridge =
        TestBridge.of(
                "{'mcpServers':{%s,'changes':%s,'goes':%s}}"
                    .formatted(stays, TestBridge.entry(""), TestBridge.entry("")))
            .awaitReady("stays", "changes", "goes")) {
      long stayed = bridge.pids("stays").get(0);
      long changed = bridge.pids("changes").get(0);

      bridge.reload(
          "{'mcpServers':{%s,'changes':%s,'comes':%s}}"
              .formatted(stays, TestBridge.entry("'riskLevel':2"), TestBridge.entry("")));

      bridge.awaitReady("comes", "changes");
      assertEquals(stayed, bridge.pids("stays").get(0));
      assertTrue(bridge.pids("changes").get(0) != changed);
      assertEquals(404, bridge.get("/servers/goes").status());
      assertTrue(
          bridge
              .post("/servers/changes/tools/echo", "{}")
              .body()
              .path("requires_confirmation")
              .asBoolean());
    }
  }

  private static void cycle(TestBridge bridge, int times) throws Exception {
    String entry = TestBridge.json(TestBridge.entry("'id':'brief'"));
    for (int i = 0; i < times; i++) {
      assertEquals(201, bridge.post("/servers", entry).status());
      bridge.post("/servers/brief/tools/grandchild", "{\"seconds\":\"" + SECONDS + "\"}");
      assertEquals(200, bridge.delete("/servers/brief").status());
    }
  }

  private static long sleepers() {
    return running("sleep " + SECONDS);
  }

  private static long running(String command) {
    return ProcessHandle.allProcesses()
        .filter(ProcessHandle::isAlive)
        .filter(p -> p.info().commandLine().orElse("").endsWith(command))
        .count();
  }
}
