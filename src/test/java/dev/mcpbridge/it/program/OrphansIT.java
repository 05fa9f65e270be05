package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Processes that a killed bridge left behind, and those of others beside them. */
@Tag("program")
@Tag("slow")
class OrphansIT {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void stop() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void orphansOfAKilledBridgeAreEndedByTheNextStart() throws Exception {
    Requirements.program("setsid");
    ServedBridge bridge = serve(List.of(), config("'s':" + TestBridge.entry("", "--stubborn")));
    long child = pid(bridge);
    call(bridge, "grandchild");

    bridge.process().destroyForcibly().waitFor();
    assertTrue(ProcessHandle.of(child).filter(ProcessHandle::isAlive).isPresent());
    serve(List.of(), config(""));

    until(() -> !isRunning(child));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void startSparesOtherNamespacesAndForgedMarks() throws Exception {
    Requirements.root();
    List<String> inNamespace =
        List.of(Requirements.program("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc");
    Path config = config("'s':" + TestBridge.entry(""));
    ServedBridge first = serve(inNamespace, config);
    long firstChild = pid(first);
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    String namespace =
        Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", "");
    Process stranger = marked(boot + "/" + namespace + "/8388608/1/" + "0".repeat(32) + "/1");

    ServedBridge second = serve(List.of(), config);
    long secondChild = pid(second);
    serve(inNamespace, config);

    assertTrue(stranger.isAlive(), "a process with a forged mark was ended");
    assertSameChild(first, firstChild);
    assertSameChild(second, secondChild);
  }

  private Path config(String servers) throws Exception {
    String config = TestBridge.json("{'mcpServers':{" + servers + "}}");
    return Files.writeString(Files.createTempFile(folder, "bridge", ".json"), config);
  }

  private Process marked(String mark) throws Exception {
    ProcessBuilder stranger = new ProcessBuilder("sleep", "600");
    stranger.environment().put("MCP_BRIDGE_CHILD", mark);
    Process process = stranger.start();
    started.add(process);
    return process;
  }

  private static void assertSameChild(ServedBridge bridge, long child) throws Exception {
    assertTrue(call(bridge, "echo").has("structuredContent"));
    assertEquals(child, pid(bridge));
  }

  /** A zombie process does not count as running. */
  private static boolean isRunning(long pid) throws Exception {
    Path stat = Path.of("/proc/" + pid + "/stat");
    return Files.exists(stat) && !Files.readString(stat).contains(") Z ");
  }

  /**
   * Starts a bridge whose orphans are left to the bridges of this test.
   *
   * @param runner a command that runs it
   */
  private ServedBridge serve(List<String> runner, Path config) throws Exception {
    List<String> command = new ArrayList<>(runner);
    command.addAll(ServedBridge.command("--config", config.toString()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(folder.resolve("err-" + started.size()).toFile());
    builder.environment().put("XDG_RUNTIME_DIR", folder.toString());
    ServedBridge bridge = ServedBridge.from(builder);
    started.add(bridge.process());
    return bridge;
  }

  private static long pid(ServedBridge bridge) throws Exception {
    until(() -> server(bridge).path("state").asText().equals("ready"));
    return server(bridge).path("pid").asLong();
  }

  private static JsonNode server(ServedBridge bridge) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(bridge.url() + "/servers/s")));
  }

  private static JsonNode call(ServedBridge bridge, String tool) throws Exception {
    return send(
        HttpRequest.newBuilder(URI.create(bridge.url() + "/servers/s/tools/" + tool))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{}")));
  }

  private static JsonNode send(HttpRequest.Builder request) throws Exception {
    return Json.mapper()
        .readTree(CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString()).body());
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, "the condition did not become true in time");
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }
}
