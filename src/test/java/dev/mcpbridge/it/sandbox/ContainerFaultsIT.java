package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.EngineProxy;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faulty containers, requests from containers, and containers that are no longer needed. */
@Tag("sandbox")
@Tag("slow")
@Tag("threads")
class ContainerFaultsIT {
  private static final String EVERYTHING = "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}";
  private static final String ONE = "'pool':{'min':1,'max':1}";

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

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 101 UPGRADED\r\n"})
  void anUnansweredAttachTimesOutAndRemovesItsContainer(String beginning) throws Exception {
    // Given
    try (EngineProxy proxy = new EngineProxy()) {
      proxy.withholdAttaches(beginning);
      String entry = box("'riskLevel':3,'startTimeout':1", ONE);
      try (TestBridge bridge = behind(proxy, entry)) {
        bridge.until(() -> proxy.waiting() > 0);

        // When
        Answer call =
            Assertions.assertTimeout(
                Duration.ofSeconds(10), () -> bridge.call("echo", "{\"text\":\"hi\"}"));

        // Then
        assertFailure(503, "isolation_unavailable", "no", call);
        assertTrue(call.text().contains("did not respond within 1000 ms"), call.text());
        bridge.until(() -> bridge.state("s").equals("failed"));
        String text = bridge.get("/servers/s").at("/last_error");
        assertTrue(text.contains("did not respond within 1000 ms"), text);
        proxy.forwardAll();
        bridge.awaitReady("s");
        bridge.until(() -> bridge.call("echo", "{\"text\":\"hi\"}").firstText().equals("hi"));
        bridge.until(() -> proxy.waiting() == 0 && engine.containers().size() == 2);
      }
    }
  }

  @Test
  void aServerWithAnUnansweredAttachStopsAtOnce() throws Exception {
    // Given
    try (EngineProxy proxy = new EngineProxy()) {
      proxy.withholdAttaches("");
      try (TestBridge bridge = behind(proxy, box("'riskLevel':3,'startTimeout':2", ONE))) {
        bridge.until(() -> proxy.waiting() == 2);

        // When
        Answer stopped =
            Assertions.assertTimeout(Duration.ofSeconds(10), () -> bridge.delete("/servers/s"));

        // Then
        assertEquals(200, stopped.status(), stopped.toString());
        assertEquals(List.of(), engine.containers());
        bridge.until(() -> proxy.waiting() == 0);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1,'risk':{'tools':{'pid':3}}", "3"})
  void anUnknownRuntimeIsReportedAndNothingRuns(String level) throws Exception {
    // Given
    Path trace = folder.resolve("trace");
    String entry =
        "{'command':'/bin/sh','args':['-c','touch %s'],'riskLevel':%s,'docker':{'image':'%s','runtime':'no-such-runtime'}}"
            .formatted(trace, level, Engine.IMAGE);
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':" + entry + "}}")) {
      // When
      bridge.until(() -> bridge.state("s").equals("failed"));
      Answer call = bridge.call("pid", "{}");

      // Then
      String text = bridge.get("/servers/s").at("/last_error");
      assertTrue(text.contains("no-such-runtime"), text);
      assertFailure(503, "isolation_unavailable", "no", call);
      assertTrue(call.text().contains("no-such-runtime"), call.text());
      assertFalse(Files.exists(trace));
      assertEquals(List.of(), engine.containers());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sha256:", ""})
  void anImageCanBeNamedByItsId(String prefix) throws Exception {
    // Given
    String id = engine.execute("image", "inspect", "--format", "{{.Id}}", Engine.IMAGE);
    String named = prefix + id.substring("sha256:".length());
    try (TestBridge bridge =
        ready("{'riskLevel':3,'docker':{'image':'" + named + "'," + ONE + "}}")) {
      // When
      Answer call = bridge.call("echo", "{\"text\":\"hi\"}");

      // Then
      assertEquals("hi", call.firstText(), call.toString());
      JsonNode where = call.body().path("execution_environment");
      assertEquals(id, where.path("image_digest").asText(), call.toString());
      assertEquals(named, where.path("docker_image").asText(), call.toString());
    }
  }

  @Test
  void imagesAreNeverPulled() throws Exception {
    String known = box("'riskLevel':3", ONE);
    String missing = known.replace(Engine.IMAGE, "no-such-image:1");
    try (EngineProxy proxy = new EngineProxy();
        TestBridge bridge =
            TestBridge.of(
                "{'sandbox':{'engine':'%s'},'mcpServers':{'s':%s,'missing':%s}}"
                    .formatted(proxy.address(), known, missing))) {
      bridge.awaitReady("s");
      bridge.until(() -> bridge.state("missing").equals("failed"));

      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());
      assertEquals(422, bridge.post("/servers/missing/tools/echo", "{}").status());

      List<String> requests = proxy.requests();
      assertTrue(
          requests.stream().anyMatch(r -> r.contains("/containers/create")), requests::toString);
      assertTrue(
          requests.stream().noneMatch(r -> r.contains("/images/create")), requests::toString);
    }
  }

  @Test
  void anIdlePoolShrinks() throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", "'pool':{'min':1,'max':3}"))) {
      bridge.until(() -> engine.containers().size() == 2);
      List<CompletableFuture<Answer>> calls =
          Stream.generate(() -> bridge.callLater("sleep", "{\"seconds\":1}")).limit(2).toList();
      for (CompletableFuture<Answer> call : calls) {
        assertEquals("slept", call.get(30, TimeUnit.SECONDS).firstText());
      }
      bridge.until(() -> engine.containers().size() == 3);

      // When: the first idle period includes the calls, the next one does not
      bridge.until(elapsed(Duration.ofSeconds(10)));
      bridge.until(() -> engine.containers().size() == 2);

      // Then
      assertEquals("hi", bridge.call("echo", "{\"text\":\"hi\"}").firstText());
      bridge.until(() -> engine.containers().size() == 2);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sampling/createMessage|{'role':'assistant','content':{'type':'text','text':'yes'},'model':'m'}",
        "elicitation/create|{'action':'accept','content':{'name':'Ada'}}",
        "roots/list|{'roots':[{'uri':'file:///srv','name':'srv'}]}"
      },
      quoteCharacter = '`')
  void theCallingClientAnswersRequestsOfTheContainer(String method, String answer)
      throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", ONE))) {
      List<JsonNode> requests = new CopyOnWriteArrayList<>();
      McpClient client =
          new McpClient(bridge.uri("/servers/s/mcp"), EVERYTHING)
              .withRequestHandler(
                  request -> {
                    requests.add(request);
                    return TestBridge.json(answer);
                  });
      client.initialize();

      // When
      McpClient.Reply reply = client.call("ask", "{\"what\":\"" + method + "\"}");

      // Then
      assertEquals(1, requests.size(), reply.text());
      assertEquals(method, requests.get(0).path("method").asText());
      assertEquals(
          "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":" + TestBridge.json(answer) + "}",
          reply.firstText(),
          reply.text());
      assertTrue(reply.result().has("execution_environment"), reply.text());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sampling/createMessage", "elicitation/create", "roots/list"})
  void unsupportedRequestsOfTheContainerAreRefused(String method) throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3,'roots':'none'", ONE))) {
      McpClient roots = new McpClient(bridge.uri("/servers/s/mcp"), "{\"roots\":{}}").initialized();
      String arguments = "{\"what\":\"" + method + "\"}";

      // When
      Answer rest = bridge.call("ask", arguments);
      McpClient.Reply mcp = roots.call("ask", arguments);

      // Then
      for (String text : List.of(rest.firstText(), mcp.firstText())) {
        assertTrue(text.startsWith("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"error\":"), text);
        assertTrue(text.contains("-32601") && text.contains("does not offer " + method), text);
      }
      assertEquals(1, mcp.messages().size(), mcp.text());
    }
  }

  @Test
  void anErrorOfTheClientReachesTheToolUnchanged() throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", ONE))) {
      McpClient client =
          new McpClient(bridge.uri("/servers/s/mcp"), EVERYTHING)
              .withRequestHandler(request -> "error {\"code\":-1,\"message\":\"User rejected it\"}")
              .initialized();

      // When
      McpClient.Reply reply = client.call("ask", "{\"what\":\"sampling/createMessage\"}");

      // Then
      assertTrue(
          reply.firstText().endsWith("\"error\":{\"code\":-1,\"message\":\"User rejected it\"}}"),
          reply.text());
    }
  }

  @Test
  void aContainerWaitsForTheResponseOfAStatelessClient() throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", ONE))) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), EVERYTHING);
      String call = "\"name\":\"ask\",\"arguments\":{\"what\":\"elicitation/create\"}";
      JsonNode asked = client.stateless("tools/call", call).result();

      // When
      JsonNode done =
          client
              .stateless(
                  "tools/call",
                  call
                      + ",\"requestState\":\""
                      + asked.path("requestState").asText()
                      + "\",\"inputResponses\":{\"input\":{\"action\":\"decline\"}}")
              .result();

      // Then
      assertEquals("Who?", asked.at("/inputRequests/input/params/message").asText(), "" + asked);
      assertTrue(
          done.at("/content/0/text").asText().endsWith("\"result\":{\"action\":\"decline\"}}"),
          done.toString());
    }
  }

  @Test
  void theTimeoutIsSuspendedDuringAClientRequest() throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", ONE + ",'timeout':2"))) {
      McpClient client =
          new McpClient(bridge.uri("/servers/s/mcp"), EVERYTHING)
              .withRequestHandler(
                  request -> {
                    bridge.until(elapsed(Duration.ofSeconds(4)));
                    return "{\"action\":\"cancel\"}";
                  });
      client.initialize();

      // When
      McpClient.Reply reply = client.call("ask", "{\"what\":\"elicitation/create\"}");

      // Then
      assertTrue(reply.firstText().contains("\"result\":{\"action\":\"cancel\"}"), reply.text());
    }
  }

  @Test
  void aContainerThatEndsDuringAClientRequestFailsTheCall() throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", ONE))) {
      bridge.until(() -> engine.containers().size() == 2);
      McpClient client =
          new McpClient(bridge.uri("/servers/s/mcp"), EVERYTHING)
              .withRequestHandler(
                  request -> {
                    for (String container : engine.containers()) {
                      engine.execute("kill", container);
                    }
                    return null;
                  });
      client.initialize();

      // When
      McpClient.Reply reply = client.call("ask", "{\"what\":\"elicitation/create\"}");

      // Then
      assertTrue(reply.last().toString().contains("sandbox_failed"), reply.text());
      bridge.until(() -> bridge.call("echo", "{\"text\":\"hi\"}").firstText().equals("hi"));
    }
  }

  @Test
  void aClientThatDisconnectsEndsTheContainer() throws Exception {
    // Given
    try (TestBridge bridge = ready(box("'riskLevel':3", ONE))) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), EVERYTHING).initialized();
      bridge.until(() -> engine.containers().size() == 2);
      List<String> before = engine.containers();
      McpClient.PendingRequest call =
          client.begin(
              "tools/call", "\"name\":\"ask\",\"arguments\":{\"what\":\"elicitation/create\"}");
      call.response().get(30, TimeUnit.SECONDS);

      // When
      call.cancellation().cancel();

      // Then
      bridge.until(() -> !engine.containers().containsAll(before));
      bridge.until(() -> bridge.call("echo", "{\"text\":\"hi\"}").firstText().equals("hi"));
    }
  }

  private static Callable<Boolean> elapsed(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    return () -> System.nanoTime() > end;
  }

  private static TestBridge behind(EngineProxy proxy, String entry) throws Exception {
    return TestBridge.of(
        "{'sandbox':{'engine':'" + proxy.address() + "'},'mcpServers':{'s':" + entry + "}}");
  }

  private static TestBridge ready(String entry) throws Exception {
    return TestBridge.serving(entry);
  }

  private static String box(String keys, String docker) {
    return "{" + keys + ",'docker':{'image':'" + Engine.IMAGE + "'," + docker + "}}";
  }

  private static void assertFailure(int status, String code, String executed, Answer answer) {
    assertEquals(status, answer.status(), answer.toString());
    assertEquals(code, answer.code(), answer.toString());
    assertEquals(executed, answer.at("/executed"), answer.toString());
  }
}
