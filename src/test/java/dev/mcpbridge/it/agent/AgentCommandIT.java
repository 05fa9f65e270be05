package dev.mcpbridge.it.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.AgentProgram.Result;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaged agent in scripts. */
@Tag("agent")
class AgentCommandIT {
  @AutoClose
  private static final TestBridge bridge = TestBridge.scripted("'risk':{'tools':{'remember':2}}");

  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();
  private AgentProgram agent;

  @BeforeEach
  void open() throws Exception {
    agent = new AgentProgram(folder, bridge, model);
  }

  private static void assertEnded(int status, Result result) {
    assertEquals(status, result.status(), result.toString());
    assertFalse(result.toString().contains(AgentProgram.KEY), "the key was shown");
    assertFalse(result.toString().contains("\u001b"), "colours without a terminal");
    assertFalse(result.err().contains("Exception"), result.err());
  }

  @Test
  void onlyTheAnswerIsPrintedToStdout() throws Exception {
    model.thenCalls("s__echo", "{\"m\":\"an argument\"}").thenText("It **is** so.");

    Result result = agent.run("--once", "Is it so?");

    assertEnded(0, result);
    assertEquals("It **is** so.\n", result.out());
    assertTrue(result.err().contains("→ s__echo"), result.err());
    assertTrue(result.err().contains("an argument"), result.err());
    assertTrue(result.err().contains("← s__echo answered"), result.err());
  }

  @Test
  void argumentsAndResultsCanBeHidden() throws Exception {
    model.thenCalls("s__echo", "{\"m\":\"an argument\"}").thenText("It is so.");

    Result result = agent.run("--once", "Is it so?", "--hide-json");

    assertEnded(0, result);
    assertTrue(result.err().contains("s__echo"), result.err());
    assertFalse(result.err().contains("an argument"), result.err());
    assertTrue(model.toolResults().get(0).contains("an argument"));
  }

  @Test
  void theAnswerCanBeJson() throws Exception {
    model.thenCalls("s__echo", "{\"m\":1.10}", "s__fail", "{}").thenText("One \"of\" two.");

    Result result = agent.run("--once", "Both?", "--output", "json");

    assertEnded(0, result);
    JsonNode json = Json.mapper().readTree(result.out());
    assertEquals("One \"of\" two.", json.path("answer").asText());
    assertEquals("answered", json.path("how").asText());
    assertEquals(2, json.path("steps").asInt());
    assertEquals("s__echo", json.at("/calls/0/name").asText());
    assertEquals("{\"m\":1.10}", json.at("/calls/0/arguments").asText());
    assertFalse(json.at("/calls/0/is_error").asBoolean());
    assertTrue(json.at("/calls/1/is_error").asBoolean());
    assertEquals(22, json.at("/usage/input").asInt());
    assertEquals(14, json.at("/usage/output").asInt());
    assertEquals(1, result.out().lines().count());
  }

  @Test
  void callThatNeedsAnApprovalIsNotRun() throws Exception {
    model.thenCalls("s__remember", "{\"text\":\"x\"}").thenText("It was not approved.");

    Result result = agent.run("--once", "Remember x.");

    assertEnded(3, result);
    assertEquals("It was not approved.\n", result.out());
    assertTrue(result.err().contains("Not run"), result.err());
    assertEquals(0, bridge.get("/confirmations").body().path("confirmations").size());
  }

  @Test
  void failuresPrintAMessage() throws Exception {
    model.thenError(401, "bad key " + "x".repeat(2_000));
    Result refused = agent.run("--once", "Hello?");
    assertEnded(1, refused);
    assertEquals("", refused.out());
    assertTrue(refused.err().contains("401"), refused.err());

    int unusedPort = FreePorts.find(1).get(0);
    Result noBridge = agent.run("--once", "Hello?", "--mcp-port", Integer.toString(unusedPort));
    assertEnded(1, noBridge);
    assertEquals("", noBridge.out());
    assertTrue(noBridge.err().contains("There is no bridge at http://127.0.0.1:" + unusedPort));

    String url = "http://127.0.0.1:" + unusedPort + "/v1";
    Result noModel = agent.run("--once", "Hello?", "--base-url", url);
    assertEnded(1, noModel);
    assertTrue(noModel.err().contains("cannot be reached"), noModel.err());
    assertEquals(1, model.requestBodies().size());
  }

  @Test
  void invalidOptionsAreRejected() throws Exception {
    for (String[] invalid :
        new String[][] {
          {"--nonsense"},
          {"--max-steps", "many"},
          {"--output", "xml"},
          {"--provider", "unknown"},
          {"--mcp-port", "x"},
          {"--mcp-port", "-5"},
          {"--mcp-port", "99999"},
          {"--mcp-url", "localhost:3000"},
          {"--mcp-url", "http://127.0.0.1:99999"},
          {"--base-url", "nonsense"},
          {"--base-url", "file:///etc/passwd"}
        }) {
      Result result = agent.run(invalid);
      assertEnded(2, result);
      assertEquals("", result.out());
    }
    assertEnded(1, agent.run("--once", "x", "--key-file", "/nowhere/at/all"));
    assertEnded(1, agent.run("--once", "x", "--transcript", "/nowhere/at/all"));
  }

  @Test
  void keyIsReadFromAFileOrTheEnvironment() throws Exception {
    Path file = Files.writeString(folder.resolve("key"), "of-the-file\n");
    model.thenText("Hello.");
    assertEnded(0, agent.run("--once", "Hello?", "--key-file", file.toString()));
    assertEquals("Bearer of-the-file", model.seen().get(0).header("authorization"));

    for (Map.Entry<String, String> each :
        Map.of("gemini", "GEMINI_API_KEY", "anthropic", "ANTHROPIC_API_KEY").entrySet()) {
      Result result = agent.run("--provider", each.getKey(), "--once", "Hello?");
      assertEnded(1, result);
      assertTrue(result.err().contains(each.getValue()), result.err());
    }
    Result invalidKey = agent.with("OPENAI_API_KEY", "with a\u0007bell").run("--once", "Hello?");
    assertEnded(1, invalidKey);
    assertFalse(invalidKey.err().contains("bell"), invalidKey.err());
    model.thenText("Hello again.");
    assertEnded(0, agent.with("OPENAI_API_KEY", "").run("--once", "Hello?"));
    assertEquals(null, model.seen().get(1).header("authorization"));
  }

  @Test
  void modelMayHaveAnyName() throws Exception {
    Result result =
        agent
            .with("GEMINI_API_KEY", AgentProgram.KEY)
            .run("--provider", "gemini", "--model", "no such?{model}", "--once", "Hello?");

    assertEnded(1, result);
    assertEquals(
        "/v1/v1beta/models/no%20such%3F%7Bmodel%7D:streamGenerateContent",
        model.seen().get(0).path());
  }

  @Test
  void endlessCallsAreStopped() throws Exception {
    model.alwaysCalls("s__echo", "{}");

    Result result = agent.run("--once", "Go!", "--max-steps", "3");

    assertEnded(1, result);
    assertTrue(result.err().contains("out of steps"), result.err());
    assertEquals(4, model.requestBodies().size());
    assertEquals("none", model.lastRequestBody().path("tool_choice").asText());
    assertTrue(model.requestBodies().get(2).path("tool_choice").isMissingNode());
    assertEquals(3, model.toolResults().size());
  }

  @Test
  void longResultIsCutWithANote() throws Exception {
    model.thenCalls("s__big", "{\"size\":5000}").thenText("Long.");

    assertEnded(0, agent.run("--once", "How long?", "--max-result", "1000"));

    String answer = model.toolResults().get(0);
    assertTrue(answer.contains("[cut here: 1000 of 5000 characters are shown]"), answer);
    assertTrue(answer.length() < 1200, answer);
    assertTrue(answer.matches("(?s)<data (\\w+)>.*</data \\1>"), answer);
    assertTrue(
        model.lastRequestBody().at("/messages/0/content").asText().contains("data from elsewhere"));
  }

  @Test
  void transcriptIsWrittenAndCanBeReplayed() throws Exception {
    Path file = folder.resolve("transcript");
    model.thenCalls("s__echo", "{\"m\":1}").thenText("One.");
    assertEnded(0, agent.run("--once", "What?", "--transcript", file.toString()));
    List<String> lines = Files.readAllLines(file);
    assertEquals("{\"user\":\"What?\"}", lines.get(0));
    assertEquals(4, lines.size(), lines.toString());
    assertFalse(lines.toString().contains(AgentProgram.KEY));

    Result again =
        agent.run("--provider", "replay", "--replay", file.toString(), "--once", "What?");

    assertEnded(0, again);
    assertEquals("One.\n", again.out());
    assertTrue(again.err().contains("← s__echo answered"), again.err());
    Files.writeString(file, "no transcript\n");
    Result invalid =
        agent.run("--provider", "replay", "--replay", file.toString(), "--once", "What?");
    assertEnded(1, invalid);
    assertTrue(invalid.err().contains("line 1"), invalid.err());
  }

  @Test
  void threeToolsAreOfferedInsteadOfMany() throws Exception {
    try (TestBridge many = TestBridge.scripted("", "--more-tools", "100", "--page", "200")) {
      model.thenText("Three.");
      assertEnded(0, new AgentProgram(folder, many, model).run("--once", "What?"));
      assertEquals(3, model.lastRequestBody().path("tools").size());
      String call = model.lastRequestBody().path("tools").toString();
      assertTrue(call.contains("call_tool"), call);
      model
          .thenCalls("call_tool", "{\"name\":\"s__echo\",\"arguments\":{\"m\":\"found\"}}")
          .thenText("Found.");
      Result result = new AgentProgram(folder, many, model).run("--once", "What?");
      assertEnded(0, result);
      assertTrue(model.toolResults().get(0).contains("found"), model.toolResults().get(0));
      assertTrue(model.toolResults().get(0).startsWith("<data "), model.toolResults().get(0));
    }
  }

  @Test
  void bridgeWithKeysRequiresItsKey() throws Exception {
    String key = ApiKeys.generate();
    try (TestBridge locked =
        TestBridge.of(
            "{'auth':{'keys':[%s]},'mcpServers':{'s':%s}}"
                .formatted(TestBridge.key("a", key, "'read','call'"), TestBridge.entry("")))) {
      AgentProgram outside = new AgentProgram(folder, locked, model);
      locked.until(
          () ->
              locked
                  .get("/servers/s", "authorization", "Bearer " + key)
                  .at("/state")
                  .equals("ready"));
      Result refused = outside.run("--once", "Hello?");
      assertEnded(1, refused);
      assertTrue(refused.err().contains("The bridge refused"), refused.err());
      assertEquals(0, model.requestBodies().size());

      model.thenCalls("s__echo", "{}").thenText("Hello.");
      assertEnded(0, outside.with("MCP_BRIDGE_KEY", key).run("--once", "Hello?"));
      assertFalse(model.seen().get(0).headers().toString().contains(key));
    }
  }

  @Test
  void bridgeKilledDuringACallIsReported() throws Exception {
    Path config = folder.resolve("bridge.json");
    Files.writeString(config, TestBridge.json("{'mcpServers':{'s':" + TestBridge.entry("") + "}}"));
    try (ServedBridge served = ServedBridge.in(folder, "--config", config.toString())) {
      String url = served.url();
      model.thenCalls("s__never", "{}").thenText("Done!");
      bridge.until(() -> ready(url));
      AgentProgram client = new AgentProgram(folder, url, model.base(), Map.of());
      Process running = client.start("--once", "Do it.");
      bridge.until(() -> Files.readString(folder.resolve("stderr")).contains("→ s__never"));
      bridge.until(() -> text(url + "/servers/s").contains("\"pending_calls\":1"));

      served.process().destroyForcibly().waitFor();

      Result result = client.awaitExit(running);
      assertEnded(1, result);
      assertEquals("", result.out());
      assertTrue(
          result.err().contains("The bridge at " + url + " closed the connection"), result.err());
      assertEquals(1, model.requestBodies().size());
    }
  }

  private static boolean ready(String url) throws Exception {
    return text(url + "/servers/s").contains("\"state\":\"ready\"");
  }

  private static String text(String url) throws Exception {
    return bridge
        .client()
        .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
