package dev.mcpbridge.it.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.TestBridge;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** APIs and executors that accept a connection but do not respond at their start. */
@Tag("remote")
class SilentUpstreamsIT {
  @AutoClose private EchoApi api;

  @BeforeEach
  void start() throws Exception {
    api = EchoApi.start().on("/silent", EchoApi.neverRespond());
  }

  private String entry(String kind) {
    String silent = api.url("/silent");
    return switch (kind) {
      case "document" -> "'type':'openapi','url':'" + silent + "'";
      case "functions" ->
          "'type':'toolcall','url':'" + api.url("/run") + "','toolsUrl':'" + silent + "'";
      default -> "'type':'toolcall','url':'" + silent + "','tools':[{'name':'run'}]";
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"document", "functions", "executor"})
  void aSilentStartTimesOutAndIsRetried(String kind) throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'s':{" + entry(kind) + ",'startTimeout':1,'maxRestartDelay':0.5}}}")) {
      String[] lastError = new String[1];
      bridge.until(
          () -> {
            JsonNode server = bridge.get("/servers/s").body();
            lastError[0] = server.path("last_error").asText();
            return server.path("state").asText().equals("failed");
          });

      assertTrue(lastError[0].contains("timed out after "), lastError[0]);
      bridge.until(() -> api.disconnects() > 0);
      api.on(
          "/silent",
          kind.equals("document")
              ? ApiDocument.create().with("get", "/run", "run", "").asScript()
              : EchoApi.json("[{\"name\":\"run\"}]"));
      bridge.awaitReady("s");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"document", "functions", "executor"})
  void aServerWithASilentStartCanBeRemoved(String kind) throws Exception {
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':{" + entry(kind) + "}}}")) {
      bridge.until(() -> api.requests("/silent").size() == 1);

      bridge.reload("{}");

      assertEquals(404, bridge.get("/servers/s").status());
      bridge.until(() -> api.disconnects() == 1);
    }
  }

  @Test
  void aBridgeStopsWhileItsServersAreSilent() throws Exception {
    TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'d':{" + entry("document") + "},'e':{" + entry("executor") + "}}}");
    bridge.until(() -> api.requests("/silent").size() == 2);

    bridge.close();

    bridge.until(() -> api.disconnects() == 2);
  }
}
