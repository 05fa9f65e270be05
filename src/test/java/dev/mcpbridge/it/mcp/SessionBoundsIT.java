package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.RandomIds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Limits on the number and the idle time of sessions. */
@Tag("mcp")
class SessionBoundsIT {
  private static final String OPENING =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
          + "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
          + "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}";

  @Test
  void sessionOverTheLimitIsRejectedUntilAnotherEnds() throws Exception {
    try (TestBridge bridge = TestBridge.of("{'http':{'maxSessions':1},'mcpServers':{}}")) {
      // Given
      McpClient first = new McpClient(bridge.uri("/mcp"), "{}").initialized();
      McpClient second = new McpClient(bridge.uri("/mcp"), "{}");

      // When
      McpClient.Reply refused = second.post(OPENING);

      // Then
      assertEquals(503, refused.status());
      assertEquals(200, first.request("ping", "{}").status());
      assertEquals(1, sessions(bridge));

      // When
      first.delete();

      // Then
      assertEquals(0, sessions(bridge));
      assertEquals(200, second.post(OPENING).status());
    }
  }

  @Test
  void unknownSessionIdsAre404AndTakeNoPlace() throws Exception {
    try (TestBridge bridge = TestBridge.of("{'http':{'maxSessions':1},'mcpServers':{}}")) {
      String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
      for (int i = 0; i < 1_000; i++) {
        String[] id = {"mcp-session-id", RandomIds.next()};
        assertEquals(404, bridge.post("/mcp", list, id).status());
        assertEquals(404, bridge.delete("/mcp", id).status());
      }

      assertEquals(0, sessions(bridge));
      assertEquals(
          200,
          new McpClient(bridge.uri("/mcp"), "{}").initialized().request("ping", "{}").status());
    }
  }

  private static double sessions(TestBridge bridge) throws Exception {
    return MetricsText.values(bridge.get("/metrics").text(), "mcp_bridge_sessions").sum();
  }

  @Test
  void idleSessionEnds() throws Exception {
    try (TestBridge bridge = TestBridge.of("{'http':{'sessionIdle':5},'mcpServers':{}}")) {
      McpClient unused = new McpClient(bridge.uri("/mcp"), "{}").initialized();
      McpClient used = new McpClient(bridge.uri("/mcp"), "{}").initialized();

      long since = System.nanoTime();
      bridge.until(
          () -> {
            assertEquals(200, used.request("ping", "{}").status());
            return System.nanoTime() - since > 12_000_000_000L;
          });

      assertEquals(404, unused.request("ping", "{}").status());
      assertEquals(1, sessions(bridge));
    }
  }
}
