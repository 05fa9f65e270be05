package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.SpanReceiver.Received;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TrailFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls at risk level 3, and servers in containers, on a real engine. */
@Tag("sandbox")
@Tag("slow")
class SandboxIT {
  private static Engine engine;

  @TempDir Path folder;

  @BeforeAll
  static void find() throws Exception {
    engine = Engine.local();
  }

  @AfterEach
  void assertNoContainersLeft() throws Exception {
    assertEquals(List.of(), engine.containers());
  }

  @Test
  void everyContainerHasTheProfileDespiteItsImage() throws Exception {
    try (TestBridge bridge = high("'memory':'40m','cpus':0.5,'pids':30")) {
      bridge.until(() -> engine.containers().size() == 2);

      for (String id : engine.containers()) {
        JsonNode container = engine.inspect(id);
        JsonNode host = container.path("HostConfig");
        assertEquals("65534:65534", container.at("/Config/User").asText());
        assertEquals("[\"NONE\"]", container.at("/Config/Healthcheck/Test").toString());
        assertFalse(host.path("Privileged").asBoolean());
        assertEquals("[\"ALL\"]", host.path("CapDrop").toString());
        assertTrue(host.path("CapAdd").isNull());
        assertEquals("[\"no-new-privileges\"]", host.path("SecurityOpt").toString());
        assertTrue(host.path("ReadonlyRootfs").asBoolean());
        assertEquals("none", host.path("NetworkMode").asText());
        assertEquals("private", host.path("IpcMode").asText());
        assertEquals("", host.path("PidMode").asText());
        assertEquals("", host.path("UTSMode").asText());
        assertEquals("", host.path("UsernsMode").asText());
        assertEquals(40 << 20, host.path("Memory").asLong());
        assertEquals(40 << 20, host.path("MemorySwap").asLong());
        assertEquals(500_000_000, host.path("NanoCpus").asLong());
        assertEquals(30, host.path("PidsLimit").asInt());
        assertEquals(2, host.path("Ulimits").size());
        assertTrue(host.path("Init").asBoolean());
        assertTrue(Set.of("", "no").contains(host.at("/RestartPolicy/Name").asText()));
        assertTrue(host.path("Binds").isNull(), host.toString());
        assertEquals(
            "[]", container.path("Mounts").toString(), "the image's volumes are not mounted");
        assertTrue(host.path("PortBindings").isEmpty());
        assertTrue(host.path("Devices").isEmpty());
        assertEquals("s", container.at("/Config/Labels/dev.mcpbridge.server").asText());
      }
    }
  }

  @Test
  void whatAContainerWritesIsInTheLogOfItsServer() throws Exception {
    for (String scope : List.of("call", "server")) {
      try (TestBridge bridge = high("'scope':'" + scope + "'")) {
        assertEquals(200, bridge.call("stderr", "{}").status());

        bridge.until(
            () -> bridge.get("/servers/s/log").text().contains("\"text\":\"words of warning\""));
      }
    }
  }

  @Test
  void aContainerHasNoPrivilegesOrNetwork() throws Exception {
    try (TestBridge bridge = high("'env':{'GIVEN':'x'}")) {
      String status = bridge.call("status", "{}").firstText();
      assertTrue(status.contains("CapEff: 0000000000000000"), status);
      assertTrue(status.contains("NoNewPrivs: 1"), status);
      assertTrue(status.contains("Seccomp: 2"), status);
      assertTrue(status.endsWith("65534:65534"), status);

      assertTrue(write(bridge, "/x").contains("Read-only file system"));
      assertTrue(write(bridge, "/bin/x").contains("Read-only file system"));
      assertEquals("written", write(bridge, "/tmp/x"), "/tmp of the image has mode 0755");
      assertEquals("written", write(bridge, "/data/x"), "a volume of the image");

      String root = bridge.call("root", "{}").firstText();
      assertFalse(root.contains("docker.sock"), root);
      String port = "{\"port\":\"" + bridge.uri("/").getPort() + "\"}";
      String network = bridge.call("network", port).firstText();
      assertFalse(network.contains("eth"), network);
      assertTrue(network.contains("Network is unreachable"), network);
      assertTrue(network.contains("Connection refused"), network);
      String environment = bridge.call("environment", "{}").firstText();
      assertTrue(environment.contains("GIVEN=x"), environment);
      assertFalse(environment.contains("JAVA_HOME"), environment);
    }
  }

  @Test
  void callsAreIsolatedFromEachOther() throws Exception {
    try (TestBridge bridge = high("'pool':{'min':2,'max':4}")) {
      Set<String> hosts = new HashSet<>();
      for (int i = 0; i < 6; i++) {
        assertEquals("written", write(bridge, "/tmp/x"));
        assertTrue(
            bridge.call("read", "{\"path\":\"/tmp/x\"}").firstText().contains("No such file"));
        hosts.add(bridge.call("pid", "{}").firstText());
      }
      assertEquals(6, hosts.size());
    }
  }

  @Test
  void aResultReportsItsExecutionEnvironment() throws Exception {
    try (TestBridge bridge = high("")) {
      Answer answer = bridge.call("echo", "{\"text\":\"hi\"}");

      assertEquals("hi", answer.firstText(), answer.toString());
      JsonNode where = answer.body().path("execution_environment");
      assertEquals(3, where.path("risk_level").asInt());
      assertTrue(where.path("docker").asBoolean());
      assertEquals(Engine.IMAGE, where.path("docker_image").asText());
      assertTrue(where.path("image_digest").asText().startsWith("sha256:"));
      assertEquals(64, where.path("container_id").asText().length());
      JsonNode listed = bridge.get("/servers/s/tools").body();
      assertEquals(
          Engine.IMAGE, listed.at("/execution_environment/docker_image").asText(), "" + listed);
    }
  }

  @Test
  void resourceExhaustionAffectsOnlyItsOwnCall() throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
                "{'mcpServers':{'s':"
                    + box("'riskLevel':3", "'memory':'32m','pids':24,'tmpfs':'4m'")
                    + ",'calm':"
                    + TestBridge.entry("")
                    + "}}")
            .awaitReady("s", "calm")) {

      assertFailure(502, "sandbox_out_of_memory", bridge.call("memory", "{}"));
      Answer forks = bridge.call("forks", "{}");
      assertTrue(forks.status() == 502 || forks.firstText().matches("\\d{1,2}"), forks.toString());
      String disk = bridge.call("disk", "{}").firstText();
      assertTrue(disk.contains("No space left"), disk);
      CompletableFuture<Answer> spin = bridge.callLater("spin", "{\"seconds\":2}");
      for (int i = 0; i < 50; i++) {
        assertEquals(200, bridge.post("/servers/calm/tools/echo", "{}").status());
      }
      assertEquals("spun", spin.get(30, TimeUnit.SECONDS).firstText());
      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());
    }
  }

  @Test
  void callersShareContainersAndWaitingCallsAreCounted() throws Exception {
    String greedy = ApiKeys.generate();
    String modest = ApiKeys.generate();
    String keys =
        TestBridge.auth(
                TestBridge.key("greedy", greedy, "'read','call'"),
                TestBridge.key("modest", modest, "'read','call'"))
            + ",";
    String entry = box("'riskLevel':3", "'pool':{'min':2,'max':2}");
    try (TestBridge bridge = TestBridge.of("{" + keys + "'mcpServers':{'s':" + entry + "}}")) {
      bridge.until(
          () -> bridge.get("/servers/s", "x-api-key", modest).text().contains("\"ready\""));
      List<CompletableFuture<Answer>> greedyCalls = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        greedyCalls.add(bridge.callLater("sleep", "{\"seconds\":4}", "x-api-key", greedy));
      }
      bridge.until(
          () ->
              bridge.get("/servers/s", "x-api-key", modest).body().path("queued_calls").asInt()
                  == 2);

      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}", "x-api-key", modest).firstText());

      assertFalse(greedyCalls.get(0).isDone());
      greedyCalls.forEach(call -> assertEquals(200, call.join().status()));
    }
  }

  @Test
  void aServerThatExitsFailsItsCallWithTheStatus() throws Exception {
    try (TestBridge bridge = high("")) {
      Answer answer = bridge.call("exit", "{\"code\":3}");

      assertFailure(502, "sandbox_failed", answer);
      assertFalse(answer.text().contains("the last words"), answer.text());
      assertTrue(answer.text().contains("status 3"), answer.text());
    }
  }

  @Test
  void aCallThatTimesOutEndsWithItsContainer() throws Exception {
    try (TestBridge bridge = high("'timeout':0.5,'pool':{'min':1,'max':1}")) {
      assertFailure(504, "sandbox_timeout", bridge.call("sleep", "{\"seconds\":600}"));

      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());
    }
  }

  @Test
  void aCancelledCallEndsWithItsContainer() throws Exception {
    try (TestBridge bridge = high("'pool':{'min':1,'max':1}")) {
      CompletableFuture<Answer> call = bridge.callLater("sleep", "{\"seconds\":600}");
      bridge.until(() -> engine.containers().size() == 2);

      call.cancel(true);

      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());
    }
  }

  @Test
  void aRunningCallIsDrainedWhenItsServerStops() throws Exception {
    String servers = "'mcpServers':{'s':" + box("'riskLevel':3", "") + "}";
    try (TestBridge bridge = TestBridge.of("{'drain':20," + servers + "}").awaitReady("s")) {
      CompletableFuture<Answer> call = bridge.callLater("sleep", "{\"seconds\":5}");
      bridge.until(() -> engine.containers().size() == 3);

      assertEquals(200, bridge.delete("/servers/s").status());

      assertEquals("slept", call.get(30, TimeUnit.SECONDS).firstText());
    }
  }

  @Test
  void aCallWithoutAContainerIsQueued() throws Exception {
    try (TestBridge bridge = high("'pool':{'min':0,'max':1}")) {
      List<CompletableFuture<Answer>> calls =
          Stream.generate(() -> bridge.callLater("sleep", "{\"seconds\":0.2}")).limit(4).toList();

      for (CompletableFuture<Answer> call : calls) {
        assertEquals("slept", call.get(60, TimeUnit.SECONDS).firstText());
      }
    }
  }

  @Test
  void theQueueIsBoundedAndRespectsDeadlines() throws Exception {
    try (TestBridge bridge =
        one("'riskLevel':3,'maxQueued':1,'timeout':15", "'pool':{'min':1,'max':1}")) {
      CompletableFuture<Answer> running = bridge.callLater("sleep", "{\"seconds\":600}");
      bridge.until(() -> engine.isRunning("sleep 600"));
      List<CompletableFuture<Answer>> others =
          Stream.generate(() -> bridge.callLater("echo", "{\"text\":\"hi\"}")).limit(4).toList();

      int refused = 0;
      for (CompletableFuture<Answer> other : others) {
        Answer answer = other.get(30, TimeUnit.SECONDS);
        refused += answer.code().equals("queue_full") ? 1 : 0;
        assertTrue(
            Set.of("queue_full", "deadline_exceeded", "").contains(answer.code()),
            answer.toString());
      }
      assertEquals(3, refused);
      assertFailure(504, "sandbox_timeout", running.get(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void aSingleToolCanBeAtLevelThree() throws Exception {
    try (TestBridge bridge = one("'riskLevel':1,'risk':{'tools':{'pid':3}}", "")) {
      assertEquals("written", write(bridge, "/tmp/x"));
      assertFalse(
          bridge.call("read", "{\"path\":\"/tmp/x\"}").firstText().contains("No such file"));

      Answer isolated = bridge.call("pid", "{}");

      assertNotEquals(isolated.firstText(), bridge.call("pid", "{}").firstText());
      assertTrue(isolated.body().has("execution_environment"));
      assertFalse(bridge.call("echo", "{}").body().has("execution_environment"));
    }
  }

  @Test
  void anApprovedCallRunsInAContainerAfterALevelChange() throws Exception {
    String entry = box("'riskLevel':1,'risk':{'tools':{'pid':%d}}", "");
    try (TestBridge bridge = TestBridge.serving(entry.formatted(2))) {
      JsonNode pending = bridge.call("pid", "{}").body();

      bridge.reload("{'mcpServers':{'s':" + entry.formatted(3) + "}}");
      bridge.awaitReady("s");
      Answer approved =
          bridge.post(
              "/confirmations/" + pending.path("confirmation_id").asText(),
              "{\"confirm\":true,\"token\":\"" + pending.path("token").asText() + "\"}");

      assertEquals(200, approved.status(), approved.toString());
      assertTrue(approved.body().has("execution_environment"), approved.toString());
    }
  }

  @Test
  void aStatefulServerHasOneContainerForItsLifetime() throws Exception {
    try (TestBridge bridge = high("'scope':'server'")) {
      assertEquals("written", write(bridge, "/tmp/x"));

      Answer read = bridge.call("read", "{\"path\":\"/tmp/x\"}");

      assertEquals("y|", read.firstText() + (read.firstText().endsWith("|") ? "" : "|"));
      assertTrue(read.body().has("execution_environment"));
      assertEquals(1, engine.containers().size());
    }
  }

  @Test
  void aServerInAContainerIsSupervisedLikeAProcess() throws Exception {
    try (TestBridge bridge = one("'riskLevel':1", "")) {
      String first = engine.containers().get(0);
      CompletableFuture<Answer> call = bridge.callLater("sleep", "{\"seconds\":600}");
      bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() == 1);

      engine.execute("kill", first);

      assertFailure(502, "upstream_crashed", call.get(30, TimeUnit.SECONDS));
      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());
      assertNotEquals(first, engine.containers().get(0));
    }
  }

  @Test
  void foldersAreMountedAsConfigured() throws Exception {
    folder.toFile().setExecutable(true, false);
    Path in = Files.createDirectory(folder.resolve("in"));
    Path out = Files.createDirectory(folder.resolve("out"));
    Files.writeString(in.resolve("there"), "from the host");
    in.toFile().setWritable(true, false);
    out.toFile().setWritable(true, false);
    String volumes = "'volumes':['" + in + ":/in','" + out + ":/out:rw']";
    try (TestBridge bridge = high(volumes)) {
      assertEquals(
          "from the host",
          bridge.call("read", "{\"path\":\"/in/there\"}").firstText().replace("|", ""));
      assertTrue(write(bridge, "/in/x").contains("Read-only file system"));
      assertEquals("written", write(bridge, "/out/x"));
      assertEquals("y\n", Files.readString(out.resolve("x")));
    }
  }

  @Test
  void progressOfACallInAContainerIsReported() throws Exception {
    try (TestBridge bridge = high("")) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();

      McpClient.Reply reply =
          client.request(
              "tools/call",
              "{\"name\":\"progress\",\"arguments\":{},\"_meta\":{\"progressToken\":\"t\"}}");

      assertEquals(1, reply.notifications("notifications/progress").size());
      assertEquals("done", reply.firstText());
    }
  }

  @Test
  void aServerFromNpmWorksInAContainer() throws Exception {
    String image = "mcp-bridge-test/node";
    engine.buildFromMachine(image, Requirements.node().toAbsolutePath() + "=/node");
    Files.writeString(folder.resolve("note"), "from the host");
    folder.toFile().setExecutable(true, false);
    folder.toFile().setReadable(true, false);
    Path modules = Requirements.npmProgram("@modelcontextprotocol").getParent();
    String docker =
        "'docker':{'image':'"
            + image
            + "','command':['/node','/app/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js','/files'],"
            + "'volumes':['"
            + modules
            + ":/app/node_modules','"
            + folder
            + ":/files'],'memory':'256m'}";
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'s':{'riskLevel':3," + docker + "}}}").awaitReady("s")) {

      Answer read = bridge.call("read_text_file", "{\"path\":\"/files/note\"}");
      Answer write = bridge.call("write_file", "{\"path\":\"/files/x\",\"content\":\"y\"}");
      Answer outside = bridge.call("read_text_file", "{\"path\":\"/etc/passwd\"}");

      assertEquals("from the host", read.firstText(), read.toString());
      assertTrue(write.body().path("isError").asBoolean(), write.toString());
      assertTrue(outside.body().path("isError").asBoolean(), outside.toString());
    }
  }

  @Test
  void aMissingImageIsReported() throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'s':{'riskLevel':3,'docker':{'image':'mcp-bridge-test/absent'}}}}")) {
      bridge.until(() -> bridge.state("s").equals("failed"));

      Answer call = bridge.call("echo", "{}");
      Answer started =
          bridge.post(
              "/servers",
              "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":3,"
                  + "\"docker\":{\"image\":\"mcp-bridge-test/absent\"}}");

      assertFailure(422, "image_not_found", call, "no");
      assertFailure(422, "image_not_found", started, "no");
      String text = bridge.get("/servers/s").at("/last_error");
      assertTrue(text.contains("no image 'mcp-bridge-test/absent': pull or build it"), text);
    }
  }

  @Test
  void aNetworkMustBeGivenByItsFullName() throws Exception {
    for (String network : List.of("no-such-network-anywhere", "f", "0")) {
      try (TestBridge bridge =
          TestBridge.of(
              "{'mcpServers':{'s':" + box("'riskLevel':3", "'network':'" + network + "'") + "}}")) {
        bridge.until(() -> bridge.state("s").equals("failed"));

        Answer refused = bridge.call("echo", "{}");

        assertTrue(refused.status() == 422 || refused.status() == 503, refused.toString());
        assertTrue(refused.text().contains("network"), refused.text());
      }
    }
  }

  @Test
  void containersOfTheApiAreSubjectToTheLimits() throws Exception {
    String entry =
        "{\"id\":\"%s\",\"command\":\"/bin/busybox\",\"args\":[\"sh\",\"/server.sh\"],"
            + "\"riskLevel\":3,\"docker\":{\"image\":\"%s\"%s}}";
    try (TestBridge bridge =
        TestBridge.of(
            "{'sandbox':{'limits':{'memory':'64m','pool':2},'allowedImages':['mcp-bridge-test/*']},"
                + "'mcpServers':{}}")) {
      Answer good =
          bridge.post(
              "/servers",
              entry.formatted("s", Engine.IMAGE, ",\"memory\":\"32m\",\"pool\":{\"max\":1}"));
      assertEquals(201, good.status(), good.toString());
      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());

      for (String[] bad :
          new String[][] {
            {Engine.IMAGE, ",\"memory\":\"65m\",\"pool\":{\"max\":1}", "docker.memory"},
            {Engine.IMAGE, ",\"memory\":\"32m\",\"pool\":{\"max\":3}", "docker.pool.max"},
            {Engine.IMAGE, ",\"memory\":\"32m\",\"runtime\":\"runc\"", "docker.runtime"},
            {Engine.IMAGE, ",\"memory\":\"32m\",\"network\":\"tools\"", "docker.network"},
            {Engine.IMAGE, ",\"memory\":\"32m\"},\"instances\":3,\"x\":{\"y\":1", "instances"},
            {"alpine", ",\"memory\":\"32m\",\"pool\":{\"max\":1}", "docker.image"},
            {
              Engine.IMAGE,
              ",\"memory\":\"32m\",\"pool\":{\"max\":1},\"volumes\":[\"" + folder + ":/x\"]",
              "docker.volumes[0]"
            }
          }) {
        Answer refused = bridge.post("/servers", entry.formatted("b", bad[0], bad[1]));
        assertTrue(refused.status() == 422 || refused.status() == 400, refused.toString());
        assertTrue(refused.text().contains(bad[2]), refused.text());
      }
    }
  }

  @Test
  void aCallInAContainerIsAStepOfItsTrace() throws Exception {
    String trace = "0af7651916cd43dd8448eb211c80319c";
    try (SpanReceiver collector = new SpanReceiver();
        TestBridge bridge = collector.bridge(box("'riskLevel':3", ""))) {
      bridge.call("status", "{}", "traceparent", "00-" + trace + "-b7ad6b7169203331-01");

      Received door = collector.await(bridge, s -> s.name().startsWith("POST /servers"));
      Received gate = collector.await(bridge, s -> s.name().equals("gate"));
      Received upstream = collector.await(bridge, s -> s.name().equals("tools/call status"));
      assertEquals(List.of(trace, trace), List.of(door.trace(), upstream.trace()));
      assertEquals("isolate", gate.get("mcp_bridge.gate"));
      assertEquals(List.of(trace, door.id()), List.of(gate.trace(), gate.parent()));
      assertEquals(door.id(), upstream.parent());
      assertEquals("pipe", upstream.get("network.transport"));
      assertTrue(upstream.get("mcp_bridge.container").matches("[0-9a-f]{64}"), upstream.toString());
    }
  }

  @Test
  void aCallInAContainerHasItsDecisionAndItsOutcomeInTheAuditTrail() throws Exception {
    Path trail = folder.resolve("trail");
    String config =
        "{'audit':{'folder':'%s','strict':true},'mcpServers':{'s':%s}}"
            .formatted(trail, box("'riskLevel':3", ""));
    try (TestBridge bridge = TestBridge.of(config)) {
      assertEquals(200, bridge.call("status", "{}").status());
    }

    List<JsonNode> calls =
        TrailFiles.records(trail).stream()
            .filter(each -> each.path("event").asText().startsWith("call."))
            .toList();
    assertEquals(2, calls.size(), calls.toString());
    assertEquals("isolate", calls.get(0).path("decision").asText());
    assertEquals("completed", calls.get(1).path("outcome").asText());
    assertEquals("yes", calls.get(1).path("executed").asText());
  }

  private static TestBridge high(String docker) throws Exception {
    return one("'riskLevel':3", docker);
  }

  private static TestBridge one(String keys, String docker) throws Exception {
    return TestBridge.serving(box(keys, docker));
  }

  private static String box(String keys, String docker) {
    return "{%s,'docker':{'image':'%s'%s}}"
        .formatted(keys, Engine.IMAGE, docker.isEmpty() ? "" : "," + docker);
  }

  private static String write(TestBridge bridge, String path) throws Exception {
    String text = bridge.call("write", "{\"path\":\"" + path + "\",\"text\":\"y\"}").firstText();
    return text.replace("|", "");
  }

  private static void assertFailure(int status, String code, Answer answer) {
    assertFailure(status, code, answer, "unknown");
  }

  private static void assertFailure(int status, String code, Answer answer, String executed) {
    assertEquals(status, answer.status(), answer.toString());
    assertEquals(code, answer.code(), answer.toString());
    assertEquals(executed, answer.at("/executed"), answer.toString());
  }
}
