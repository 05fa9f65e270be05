package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import java.util.Collections;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches, which only sessions of 2025-03-26 may send. */
@Tag("mcp")
class BatchesIT {
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
  private static final String NOTIFICATION =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}";

  @AutoClose private static final TestBridge bridge = TestBridge.scripted("");

  @Test
  void everyRequestOfABatchIsAnswered() throws Exception {
    String batch =
        " \n[%s,%s,%s,%s,{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nothing\"}]"
            .formatted(
                PING,
                NOTIFICATION,
                call(2, "sleep", "{\"ms\":100}"),
                call("\"2\"", "echo", "{\"n\":1.10}"));

    Reply reply = post("2025-03-26", batch, "accept", "application/json");

    assertEquals(200, reply.status(), reply.text());
    JsonNode responses = reply.last();
    assertEquals(4, responses.size(), reply.text());
    assertTrue(
        reply
            .text()
            .contains("\"id\":\"2\",\"result\":{\"content\":[],\"structuredContent\":{\"n\":1.10}"),
        reply.text());
    assertEquals("slept", byId(responses, "2").at("/result/content/0/text").asText());
    assertEquals(-32601, byId(responses, "3").at("/error/code").asInt());
  }

  @Test
  void notificationsAreSentBeforeTheResponses() throws Exception {
    String steps =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"progress\","
            + "\"arguments\":{\"steps\":2},\"_meta\":{\"progressToken\":\"t\"}}}";

    Reply reply = post("2025-03-26", "[" + steps + "," + call(2, "echo", "{}") + "]");

    assertEquals(2, reply.text().split("notifications/progress", -1).length - 1, reply.text());
    assertEquals(2, reply.last().size(), reply.text());
  }

  @Test
  void aBatchWithoutRequestsIsAccepted() throws Exception {
    assertEquals(202, post("2025-03-26", "[" + NOTIFICATION + "," + NOTIFICATION + "]").status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "[1]",
        "[[]]",
        "[" + PING + ",{\"jsonrpc\":\"1.0\",\"id\":2,\"method\":\"ping\"}]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}]",
        "[" + PING,
        "[" + PING + ",]"
      })
  void anInvalidBatchIsRejectedAsAWhole(String batch) throws Exception {
    Reply reply = post("2025-03-26", batch);

    assertEquals(400, reply.status(), reply.text());
    assertTrue(reply.errorCode() == -32600 || reply.errorCode() == -32700, reply.text());
  }

  @Test
  void theSizeOfABatchIsBounded() throws Exception {
    String atLimit = "[" + String.join(",", Collections.nCopies(100, PING)) + "]";
    String overLimit = "[" + String.join(",", Collections.nCopies(101, PING)) + "]";

    assertEquals(100, post("2025-03-26", atLimit, "accept", "application/json").last().size());
    assertEquals(400, post("2025-03-26", overLimit).status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"2024-11-05", "2025-06-18", "2025-11-25"})
  void otherRevisionsRejectBatches(String revision) throws Exception {
    Reply reply = post(revision, "[" + PING + "]");

    assertEquals(400, reply.status());
    assertEquals(-32600, reply.errorCode());
  }

  @Test
  void batchesRequireASession() throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}");

    assertEquals(400, client.post("[" + PING + "]").status());
    assertEquals(404, client.post("[" + PING + "]", "mcp-session-id", "x").status());
  }

  private static Reply post(String revision, String batch, String... headers) throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}");
    Reply opened =
        client.post(
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                + "\"protocolVersion\":\""
                + revision
                + "\",\"capabilities\":{}}}");
    String session = opened.headers().get("mcp-session-id").get(0);
    String[] all = new String[headers.length + 2];
    all[0] = "mcp-session-id";
    all[1] = session;
    System.arraycopy(headers, 0, all, 2, headers.length);
    return client.post(batch, all);
  }

  private static String call(Object id, String tool, String arguments) {
    return """
        {"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}"""
        .formatted(id, tool, arguments);
  }

  private static JsonNode byId(JsonNode responses, String id) {
    for (JsonNode response : responses) {
      if (response.path("id").toString().equals(id)) {
        return response;
      }
    }
    throw new AssertionError("no response to " + id + ": " + responses);
  }
}
