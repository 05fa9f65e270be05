package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of the original implementation, field by field, with its known defects fixed: a
 * client of the original works unchanged.
 */
@Tag("rest")
@Tag("threads")
class ContractIT {
  @TempDir static Path folder;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    String env = "'env':{'EFFECTS':'" + folder.resolve("effects") + "'}";
    bridge =
        TestBridge.of(
                "{'sandbox':{'engine':'unix:///no/engine.sock'},'mcpServers':{'s':"
                    + TestBridge.entry(env)
                    + ",'gated':"
                    + TestBridge.entry(env + ",'riskLevel':2")
                    + ",'isolated':"
                    + TestBridge.entry("'riskLevel':3,'docker':{'image':'node:18'}")
                    + ",'mixed':"
                    + TestBridge.entry("'risk':{'tools':{'echo':2,'big':3}}")
                    + ",'misconfigured':"
                    + TestBridge.entry("'riskLevel':7")
                    + ",'missing':{'command':'no-such-program-anywhere'}}}")
            .awaitReady("s", "gated", "mixed");
  }

  @Test
  void serversAreListedWithTheOriginalFields() throws Exception {
    bridge.until(
        () ->
            byId(bridge.get("/servers").body().path("servers"), "missing")
                .path("initialization_state")
                .asText()
                .equals("error"));
    JsonNode servers = bridge.get("/servers").body().path("servers");

    JsonNode plain = byId(servers, "s");
    assertTrue(plain.path("connected").asBoolean());
    assertTrue(plain.path("pid").asLong() > 0);
    assertEquals("initialized", plain.path("initialization_state").asText());
    assertFalse(plain.has("risk_level"));
    JsonNode gated = byId(servers, "gated");
    assertEquals(2, gated.path("risk_level").asInt());
    assertEquals("Medium risk - Requires confirmation", gated.path("risk_description").asText());
    JsonNode missing = byId(servers, "missing");
    assertFalse(missing.path("connected").asBoolean());
    assertTrue(missing.path("last_error").asText().contains("no-such-program-anywhere"));
  }

  @Test
  void healthIsAlways200AndReportsTheState() throws Exception {
    Answer health = bridge.get("/health");

    assertEquals(200, health.status());
    assertEquals("degraded", health.at("/status"));
    assertEquals(6, health.body().path("serverCount").asInt());
    assertTrue(health.body().path("uptime").isNumber());
    assertEquals(200, bridge.get("/health/live").status());
  }

  @Test
  void aServerIsStartedAndStoppedAtRunTime() throws Exception {
    String entry =
        TestBridge.json(TestBridge.entry("'id':'fresh','riskLevel':1", "a b", "$(id)", "; x", "*"));

    Answer started = bridge.post("/servers", entry);
    assertEquals(201, started.status(), started.text());
    assertEquals("connected", started.at("/status"));
    assertEquals("Low risk - Standard execution", started.at("/risk_description"));
    long pid = started.body().path("pid").asLong();
    assertTrue(ProcessHandle.of(pid).isPresent());

    String argv = bridge.post("/servers/fresh/tools/argv", "{}").text();
    assertTrue(argv.contains("[\"a b\",\"$(id)\",\"; x\",\"*\"]"), argv);
    Answer twice = bridge.post("/servers", entry);
    assertEquals(409, twice.status());
    assertEquals("Server with ID 'fresh' already exists", twice.at("/error"));

    Answer stopped = bridge.delete("/servers/fresh");
    assertEquals("{\"status\":\"disconnected\"}", stopped.text());
    assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    Answer gone = bridge.delete("/servers/fresh");
    assertEquals(404, gone.status());
    assertEquals("Server 'fresh' not found", gone.at("/error"));
    assertEquals(
        "Server 'fresh' not found or not connected",
        bridge.get("/servers/fresh/tools").at("/error"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "PATH",
        "BASH_ENV",
        "NODE_OPTIONS",
        "JAVA_TOOL_OPTIONS",
        "PYTHONPATH",
        "PYTHONHOME",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "RUBYLIB",
        "CLASSPATH",
        "OPENSSL_CONF",
        "npm_config_registry",
        "PIP_INDEX_URL",
        "UV_INDEX",
        "GIT_SSH_COMMAND",
        "DOCKER_HOST",
        "https_proxy",
        "MCP_BRIDGE_KEY"
      })
  void variablesThatLoadForeignCodeAreRefusedInDefinitions(String variable) throws Exception {
    String definition = "{\"id\":\"x\",\"command\":\"x\",\"env\":{\"%s\":\"y\"}}";

    Answer answer = bridge.post("/servers", definition.formatted(variable));

    assertEquals(422, answer.status(), answer.toString());
    assertTrue(answer.text().contains("only the configuration file may set it"), answer.text());
  }

  @Test
  void variableThatOnlyChangesHowPythonWritesIsAccepted() throws Exception {
    String definition =
        "{\"id\":\"x\",\"command\":\"no-such-program\",\"env\":{\"PYTHONUNBUFFERED\":\"1\"}}";

    assertEquals(502, bridge.post("/servers", definition).status());
  }

  @Test
  void invalidDefinitionsAreRejectedAndNotStarted() throws Exception {
    String[][] cases = {
      {"400", "{}"},
      {"400", "{\"id\":\"x\"}"},
      {"400", "{\"command\":\"x\"}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":4}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":\"2\"}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":1.5}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":3}"},
      {"422", "{\"id\":\"..\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"-rf\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"a/b\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"a b\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"😀\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"" + "y".repeat(300) + "\",\"command\":\"x\"}"},
      {"422", "{\"id\":\"x\",\"command\":\"./sh\"}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"args\":\"y\"}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"args\":[1]}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"args\":{\"a\":1}}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"env\":{\"A\":1}}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"url\":\"http://169.254.169.254/\"}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":-1}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":true}"},
      {"400", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":2147483648}"},
      {"502", "{\"id\":\"x\",\"command\":\"/tmp\"}"},
      {"502", "{\"id\":\"x\",\"command\":\"/etc/passwd\"}"},
      {"422", "{\"id\":\"x\",\"command\":\"\"}"},
      {"422", "{\"id\":\"x\",\"command\":\"/" + "y".repeat(1 << 20) + "\"}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"args\":[" + "\"y\",".repeat(9_999) + "\"y\"]}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"args\":[\"a\\u0000b\"]}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"env\":[]}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"env\":{\"LD_PRELOAD\":\"y\"}}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"env\":{\"A=B\":\"y\"}}"},
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"privileged\":true}"},
      {
        "422",
        "{\"id\":\"x\",\"command\":\"x\",\"docker\":{\"image\":\"i\",\"volumes\":[\"/:/h\"]}}"
      },
      {"422", "{\"id\":\"x\",\"command\":\"x\",\"docker\":{\"image\":\"i\",\"network\":\"host\"}}"},
      {"503", "{\"id\":\"x\",\"command\":\"x\",\"riskLevel\":3,\"docker\":{\"image\":\"i\"}}"},
      {"502", "{\"id\":\"x\",\"command\":\"no-such-program-anywhere\"}"},
    };
    for (String[] expected : cases) {
      Answer answer = bridge.post("/servers", expected[1]);
      assertEquals(expected[0], "" + answer.status(), expected[1] + " → " + answer);
      assertFalse(answer.at("/error").isEmpty());
    }
    assertEquals(404, bridge.get("/servers/x").status());
  }

  @Test
  void aProgramWithoutAHandshakeIsKilledAndRemoved() throws Exception {
    Answer answer =
        bridge.post(
            "/servers",
            "{\"id\":\"silent\",\"command\":\"sleep\",\"args\":[\"987\"],\"startTimeout\":0.5}");

    assertEquals(504, answer.status(), answer.text());
    assertEquals(404, bridge.get("/servers/silent").status());
    assertTrue(
        ProcessHandle.allProcesses()
            .noneMatch(p -> p.info().commandLine().orElse("").endsWith("sleep 987")));
  }

  @Test
  void aConfirmationShowsItsCallAndIsUsedOnce() throws Exception {
    Files.deleteIfExists(folder.resolve("effects"));
    Answer answer = bridge.post("/servers/gated/tools/effect", "{\"ms\":1,\"n\":1.10}");

    assertEquals(200, answer.status());
    JsonNode pending = answer.body();
    assertTrue(pending.path("requires_confirmation").asBoolean());
    assertEquals("Medium risk - Requires confirmation", pending.path("risk_description").asText());
    assertEquals("gated", pending.path("server_id").asText());
    assertEquals("tools/call", pending.path("method").asText());
    assertEquals("effect", pending.path("tool_name").asText());
    assertTrue(answer.text().contains("\"arguments\":{\"ms\":1,\"n\":1.10}"));
    String path = "/confirmations/" + pending.path("confirmation_id").asText();
    String yes = "{\"confirm\":true,\"token\":\"" + pending.path("token").asText() + "\"}";

    assertEquals(200, bridge.get(path).status());
    assertEquals(422, bridge.post(path, "{\"confirm\":\"false\"}").status());
    assertEquals(422, bridge.post(path, "{\"confirm\":1}").status());
    assertEquals(422, bridge.post(path, "{}").status());
    assertEquals(400, bridge.post(path, "[]").status());
    assertEquals(422, bridge.post(path, "{\"confirm\":true,\"arguments\":{\"ms\":2}}").status());
    assertEquals(403, bridge.post(path, "{\"confirm\":true,\"token\":\"guess\"}").status());
    assertEquals(403, bridge.post(path, "{\"confirm\":true}").status());
    assertFalse(Files.exists(folder.resolve("effects")));
    List<CompletableFuture<Answer>> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      all.add(
          bridge
              .client()
              .sendAsync(
                  bridge.posting(path, yes).build(),
                  java.net.http.HttpResponse.BodyHandlers.ofString())
              .thenApply(r -> new Answer(r.statusCode(), r.body(), r)));
    }
    List<Integer> statuses = all.stream().map(f -> f.join().status()).toList();

    assertEquals(1, statuses.stream().filter(s -> s == 200).count());
    assertEquals(49, statuses.stream().filter(s -> s == 404).count());
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
    assertTrue(
        all.stream()
            .map(CompletableFuture::join)
            .allMatch(each -> !each.at("/executed").equals("no")));
    Answer again = bridge.post(path, yes);
    assertEquals("yes", again.at("/executed"), again.toString());
    assertEquals("approved", bridge.get(path).at("/status"));
    assertEquals("yes", bridge.get(path).at("/executed"));
  }

  @Test
  void aRejectedCallIsNotExecuted() throws Exception {
    JsonNode pending = bridge.post("/servers/gated/tools/echo", "{}").body();

    Answer rejected =
        bridge.post(
            "/confirmations/" + pending.path("confirmation_id").asText(),
            "{\"confirm\":false,\"token\":\"" + pending.path("token").asText() + "\"}");

    assertEquals(
        "{\"status\":\"rejected\",\"message\":\"Request was rejected by the user\"}",
        rejected.text());
  }

  @Test
  void resourcesAndPromptsRequireConfirmationToo() throws Exception {
    assertEquals(
        "resources/read", bridge.get("/servers/gated/resources/test%3A%2F%2Fa").at("/method"));
    assertEquals("prompts/get", bridge.post("/servers/gated/prompts/greet", "{}").at("/method"));
  }

  @Test
  void batchesStreamsAndBackgroundCallsAreGatedToo() throws Exception {
    String batch = "{\"calls\":[{\"server\":\"gated\",\"tool\":\"echo\",\"arguments\":{}}]}";
    assertTrue(bridge.post("/batch", batch).text().contains("requires_confirmation"));
    assertTrue(
        bridge
            .post("/servers/gated/tools/echo", "{}", "accept", "text/event-stream")
            .text()
            .contains("event: confirmation"));
    String location =
        bridge
            .post("/servers/gated/tools/echo", "{}", "prefer", "respond-async")
            .header("location");
    bridge.until(() -> bridge.get(location).text().contains("requires_confirmation"));
  }

  @Test
  void levelThreeNeverRunsOnTheHost() throws Exception {
    Answer call = bridge.post("/servers/isolated/tools/echo", "{}");
    assertEquals(503, call.status());
    assertEquals("isolation_unavailable", call.code());
    assertTrue(bridge.pids("isolated").isEmpty());

    assertEquals(503, bridge.post("/servers/mixed/tools/big", "{\"size\":1}").status());
    assertTrue(bridge.post("/servers/mixed/tools/echo", "{}").text().contains("confirmation_id"));
    assertEquals(200, bridge.post("/servers/mixed/tools/cancels", "{}").status());
  }

  @Test
  void aServerWithAnUnknownLevelIsNotStarted() throws Exception {
    JsonNode server = bridge.get("/servers/misconfigured").body();

    assertEquals("failed", server.path("state").asText());
    assertTrue(server.path("last_error").asText().contains("riskLevel"), server.toString());
    assertEquals(503, bridge.post("/servers/misconfigured/tools/echo", "{}").status());
  }

  /** A page for people, which reports its failures itself. */
  /**
   * Whether a path is served, and still there is nothing: no such ticket, no audit trail, no model.
   */
  private static boolean mayBeAbsent(String path) {
    return path.startsWith("/connect/")
        || path.startsWith("/oauth/callback")
        || path.endsWith("/agent/turns")
        || path.startsWith("/console/")
        || path.equals("/audit");
  }

  @Test
  void theOpenApiDocumentDescribesExactlyTheRoutes() throws Exception {
    JsonNode document = bridge.get("/openapi.json").body();
    TreeSet<String> described = new TreeSet<>();
    document
        .path("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .fieldNames()
                    .forEachRemaining(m -> described.add(m.toUpperCase() + " " + path.getKey())));

    assertTrue(document.path("openapi").asText().startsWith("3.1"));
    for (String operation : described) {
      String method = operation.substring(0, operation.indexOf(' '));
      String path = operation.substring(operation.indexOf(' ') + 1).replaceAll("\\{\\w+}", "nope");
      if (path.equals("/events")) {
        continue;
      }
      Answer answer =
          switch (method) {
            case "GET" -> bridge.get(path, "mcp-session-id", "x", "accept", "application/json");
            case "DELETE" -> bridge.delete(path, "mcp-session-id", "x");
            case "PUT" -> bridge.put(path, "{}");
            default -> bridge.post(path, "{}");
          };
      assertFalse(
          answer.status() == 405
              || answer.status() == 500
              || answer.status() == 404 && !mayBeAbsent(path) && answer.code().equals("not_found"),
          operation + " " + answer);
    }
    for (String path :
        described.stream().map(o -> o.substring(o.indexOf(' ') + 1)).collect(Collectors.toSet())) {
      var request =
          java.net.http.HttpRequest.newBuilder(bridge.uri(path.replaceAll("\\{\\w+}", "nope")))
              .method("PATCH", java.net.http.HttpRequest.BodyPublishers.noBody())
              .build();
      var response =
          bridge.client().send(request, java.net.http.HttpResponse.BodyHandlers.ofString());
      assertEquals(405, response.statusCode(), path);
      for (String allowed : response.headers().firstValue("allow").orElseThrow().split(", ")) {
        assertTrue(described.contains(allowed + " " + path), allowed + " " + path);
      }
    }
  }

  private static JsonNode byId(JsonNode servers, String id) {
    for (JsonNode server : servers) {
      if (server.path("id").asText().equals(id)) {
        return server;
      }
    }
    throw new AssertionError("no server " + id);
  }
}
