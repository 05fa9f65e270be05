package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A container engine that is missing or restarted, and a bridge that is killed. */
@Tag("sandbox")
class EngineFaultsIT {
  private static final String BOX =
      "{'riskLevel':3,'docker':{'image':'" + Engine.IMAGE + "','pool':{'min':1,'max':2}}}";

  @TempDir Path folder;

  @BeforeAll
  static void find() throws Exception {
    Engine.local();
  }

  @Test
  void withoutAnEngineCallsFailWithAHint() throws Exception {
    Path trace = folder.resolve("trace");
    String entry =
        "{'command':'/bin/sh','args':['-c','touch %s'],'riskLevel':3,'docker':{'image':'x'}}"
            .formatted(trace);
    try (TestBridge bridge =
        TestBridge.of(
            "{'sandbox':{'engine':'unix://%s'},'mcpServers':{'s':%s,'low':%s}}"
                .formatted(
                    folder.resolve("missing.sock"),
                    entry,
                    TestBridge.entry("'risk':{'tools':{'echo':3}}")))) {
      bridge.until(() -> bridge.state("s").equals("failed") && bridge.state("low").equals("ready"));

      Answer call = bridge.call("echo", "{}");
      Answer noContainer = bridge.post("/servers/low/tools/echo", "{}");
      Answer level1 = bridge.post("/servers/low/tools/cancels", "{}");

      assertEquals(503, call.status(), call.toString());
      assertEquals("isolation_unavailable", call.code());
      assertTrue(call.text().contains("start Docker"), call.text());
      assertEquals(503, noContainer.status(), noContainer.toString());
      assertTrue(noContainer.text().contains("add docker to the entry"), noContainer.text());
      assertEquals(200, level1.status());
      assertFalse(Files.exists(trace));
    }
  }

  @Test
  void containersOfAKilledBridgeAreRemoved() throws Exception {
    Engine engine = Engine.local();
    Path config = folder.resolve("bridge.json");
    Files.writeString(config, TestBridge.json("{'mcpServers':{'s':" + BOX + "}}"));
    Process bridge =
        new ProcessBuilder(ServedBridge.command("--config", config.toString()))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    String label = "dev.mcpbridge.pid=" + bridge.pid();
    try (TestBridge other = TestBridge.of("{'mcpServers':{'o':" + BOX + "}}")) {
      other.until(() -> engine.containers(label).size() == 2);
      other.awaitReady("o");

      bridge.destroyForcibly().waitFor();
    }

    try (TestBridge next = TestBridge.of("{'mcpServers':{'s':" + BOX + "}}")) {
      next.until(() -> engine.containers(label).isEmpty());
      next.awaitReady("s");
      assertEquals("hi", next.call("echo", "{\"text\":\"hi\"}").firstText());
    }
  }

  @Test
  void containersOfAnotherBridgeAreKept() throws Exception {
    Engine engine = Engine.local();
    try (TestBridge first = TestBridge.of("{'mcpServers':{'s':" + BOX + "}}")) {
      first.until(() -> first.state("s").equals("ready") && engine.containers().size() == 2);
      List<String> before = engine.containers();

      TestBridge.of("{'mcpServers':{'o':" + BOX + "}}").awaitReady("o").close();

      assertTrue(engine.containers().containsAll(before));
    }
  }

  @Test
  void callsFailWhileAKilledEngineIsDown() throws Exception {
    Requirements.root();
    OwnEngine own = new OwnEngine();
    try (TestBridge bridge =
        TestBridge.of(
                "{'sandbox':{'engine':'%s'},'mcpServers':{'s':%s,'calm':%s}}"
                    .formatted(own.host(), BOX, TestBridge.entry("")))
            .awaitReady("s", "calm")) {
      List<CompletableFuture<Answer>> calls =
          Stream.generate(() -> bridge.callLater("sleep", "{\"seconds\":30}")).limit(4).toList();
      bridge.until(() -> own.engine().containers().size() == 3);

      own.kill();

      for (CompletableFuture<Answer> call : calls) {
        Answer failed = call.get(30, TimeUnit.SECONDS);
        assertTrue(failed.status() == 502 || failed.status() == 503, failed.toString());
        assertFalse(failed.at("/executed").equals("yes"), failed.toString());
      }
      assertEquals(200, bridge.post("/servers/calm/tools/echo", "{}").status());
      Answer refused = bridge.call("echo", "{\"text\":\"hi\"}");
      assertTrue(refused.status() == 503, refused.toString());

      own.start();
      bridge.until(() -> bridge.call("echo", "{\"text\":\"hi\"}").status() == 200);
      bridge.awaitReady("s");
    } finally {
      own.end();
    }
  }

  /** An engine started by this test, in its own network namespace, so that it can be killed. */
  private static final class OwnEngine {
    private final Path folder = Files.createTempDirectory("engine");
    private Process daemon;

    OwnEngine() throws Exception {
      start();
      engine().build();
    }

    String host() {
      return "unix://" + folder.resolve("engine.sock");
    }

    Engine engine() throws Exception {
      return Engine.at(host());
    }

    void start() throws Exception {
      daemon =
          new ProcessBuilder(
                  Requirements.program("unshare"),
                  "--net",
                  Requirements.program("dockerd"),
                  "--host",
                  host(),
                  "--data-root",
                  folder.resolve("data").toString(),
                  "--exec-root",
                  folder.resolve("exec").toString(),
                  "--pidfile",
                  folder.resolve("pid").toString(),
                  "--bridge",
                  "none",
                  "--iptables=false",
                  "--storage-driver",
                  "vfs")
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log").toFile())
              .start();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (!Engine.isReachable(host())) {
        if (!daemon.isAlive() || System.nanoTime() > deadline) {
          throw new AssertionError(Files.readString(folder.resolve("log")));
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }

    /** Stops the engine with its containers, and removes its remaining mounts. */
    void end() throws Exception {
      daemon.destroy();
      if (!daemon.waitFor(20, TimeUnit.SECONDS)) {
        kill();
      }
      run("umount", "-R", "-l", folder.resolve("data").toString());
      run("rm", "-rf", folder.toString());
    }

    private static void run(String... command) throws Exception {
      new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    }

    /** Kills the engine with all its processes. */
    void kill() throws Exception {
      List<ProcessHandle> all = daemon.descendants().toList();
      daemon.destroyForcibly().waitFor();
      all.forEach(ProcessHandle::destroyForcibly);
      Files.deleteIfExists(folder.resolve("pid"));
      Files.deleteIfExists(folder.resolve("exec/containerd/containerd.pid"));
      for (String shim : List.of("containerd-shim", "docker-init")) {
        run("pkill", "-9", "-f", shim + ".*" + folder.getFileName());
      }
    }
  }
}
