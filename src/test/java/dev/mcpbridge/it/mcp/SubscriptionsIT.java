package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TrailFiles;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resource subscriptions at servers of both eras, also across a restart of the server. */
@Tag("mcp")
@Tag("threads")
class SubscriptionsIT {
  private static final String URI = "test://watched-resource";

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void subscriptionSurvivesTheDeathOfItsProcess(String era) throws Exception {
    String server = NodeFixture.stdio("'era':'" + era + "'");
    try (TestBridge bridge = TestBridge.serving(server)) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
      BufferedReader stream = client.listen();
      assertTrue(
          client.request("resources/subscribe", "{\"uri\":\"" + URI + "\"}").result().isEmpty());
      assertOneUpdate(bridge, stream);

      long pid = bridge.pids("s").get(0);
      ProcessHandle.of(pid).orElseThrow().destroyForcibly();
      bridge.until(() -> bridge.state("s").equals("ready") && bridge.pids("s").get(0) != pid);

      assertOneUpdate(bridge, stream);
    }
  }

  @Test
  void subscriptionSurvivesAConfigurationChange() throws Exception {
    String entry =
        "{'mcpServers':{'s':{'command':'%s','args':['%s']"
            .formatted(Requirements.node(), Requirements.nodeServer("fixture-server.mjs"));
    try (TestBridge bridge = TestBridge.of(entry + "}}}").awaitReady("s")) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
      BufferedReader stream = client.listen();
      client.request("resources/subscribe", "{\"uri\":\"" + URI + "\"}").result();
      long pid = bridge.pids("s").get(0);

      bridge.reload(entry + ",'timeout':30}}}");
      bridge.until(() -> bridge.state("s").equals("ready") && bridge.pids("s").get(0) != pid);

      CompletableFuture<JsonNode> notified = McpClient.nextLater(stream);
      while (!notified.isDone()) {
        bridge.call("test_update_resource", "{}");
      }
      String method = notified.get(20, TimeUnit.SECONDS).path("method").asText();
      assertEquals("notifications/resources/updated", method);
    }
  }

  @Test
  void subscriptionThatTheRulesNoLongerAllowEnds() throws Exception {
    String servers = "'mcpServers':{'s':" + NodeFixture.stdio("") + "}}";
    String tools = "{'name':'tools','allow':['call']}";
    String resources = ",{'name':'resources','allow':['read']}";
    try (TestBridge bridge =
        TestBridge.of("{'access':{'rules':[" + tools + resources + "]}," + servers)
            .awaitReady("s")) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
      BufferedReader stream = client.listen();
      String uri = "{\"uri\":\"" + URI + "\"}";
      assertTrue(client.request("resources/subscribe", uri).result().isEmpty());
      assertOneUpdate(bridge, stream);

      bridge.reload("{'access':{'rules':[" + tools + "]}," + servers);
      bridge.call("test_update_resource", "{}");
      bridge.call("test_trigger_tool_change", "{}");

      String method = "";
      while (!method.equals("notifications/tools/list_changed")) {
        method = McpClient.nextLater(stream).get(20, TimeUnit.SECONDS).path("method").asText();
        assertNotEquals("notifications/resources/updated", method);
      }
      assertEquals(403, client.request("resources/subscribe", uri).errorCode());
    }
  }

  @Test
  void subscriptionIsInTheAuditTrailFromItsBeginningToItsEnd(@TempDir Path folder)
      throws Exception {
    String config =
        "{'audit':{'folder':'"
            + folder
            + "'},'access':{'rules':[{'name':'no-text','deny':['read'],"
            + "'resources':['test://static-text']},{'name':'all','allow':['call','read']}]},"
            + "'mcpServers':{'s':"
            + NodeFixture.stdio("")
            + "}}";
    try (TestBridge bridge = TestBridge.of(config).awaitReady("s")) {
      McpClient session = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
      session.request("resources/subscribe", "{\"uri\":\"" + URI + "\"}").result();
      session.request("resources/subscribe", "{\"uri\":\"test://static-text\"}");
      session.delete();
      McpClient stateless = new McpClient(bridge.uri("/servers/s/mcp"), "{}");
      try (BufferedReader stream =
          stateless.stream(
              "subscriptions/listen",
              "\"notifications\":{\"resourceSubscriptions\":[\"%s\"]}".formatted(URI))) {
        McpClient.next(stream);
      }
      bridge.until(() -> subscriptions(folder).size() == 5);

      List<String> expected =
          List.of(
              "mcp s " + URI + " allow",
              "mcp s test://static-text refuse forbidden",
              "mcp s " + URI + " ended",
              "mcp s " + URI + " allow",
              "mcp s " + URI + " ended");
      assertEquals(
          expected.stream().sorted().toList(), subscriptions(folder).stream().sorted().toList());
    }
  }

  private static List<String> subscriptions(Path folder) throws Exception {
    return TrailFiles.of(TrailFiles.records(folder), "subscription").stream()
        .map(
            each ->
                String.join(
                        " ",
                        each.path("door").asText(),
                        each.path("server").asText(),
                        each.path("name").asText(),
                        each.path("decision").asText(each.path("outcome").asText()),
                        each.path("code").asText())
                    .strip())
        .toList();
  }

  @Test
  void updateOfADuplicateUriHasItsQualifiedUri() throws Exception {
    String entry = NodeFixture.stdio("");
    String qualifiedUri = "mcp-bridge://s/" + URI;
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'a':" + entry + ",'s':" + entry + "}}")
            .awaitReady("a", "s")) {
      McpClient client = new McpClient(bridge.uri("/mcp"), "{}").initialized();
      BufferedReader stream = client.listen();
      client.request("resources/subscribe", "{\"uri\":\"" + qualifiedUri + "\"}").result();

      CompletableFuture<JsonNode> notified = McpClient.nextLater(stream);
      bridge.call("test_update_resource", "{}");

      assertEquals(qualifiedUri, notified.get(20, TimeUnit.SECONDS).at("/params/uri").asText());
    }
  }

  /** One change causes exactly one notification: a second one would fail the next call. */
  private static void assertOneUpdate(TestBridge bridge, BufferedReader stream) throws Exception {
    CompletableFuture<JsonNode> notified = McpClient.nextLater(stream);
    assertEquals(200, bridge.call("test_update_resource", "{}").status());
    JsonNode notification = notified.get(20, TimeUnit.SECONDS);
    assertEquals("notifications/resources/updated", notification.path("method").asText());
    assertEquals("{\"uri\":\"" + URI + "\"}", notification.path("params").toString());
  }
}
