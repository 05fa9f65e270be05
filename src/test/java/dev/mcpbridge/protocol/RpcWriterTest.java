package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Messages and results that the bridge writes itself. */
class RpcWriterTest {
  private static final JsonSlice PARAMS = JsonSlice.of("{\"n\":1.10}");
  private static final JsonSlice ID = JsonSlice.of("\"a\"");

  @Test
  void messagesAreThoseOfJsonRpc() {
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"n\":1.10}}",
        RpcWriter.request(7, "ping", PARAMS).toSlice().text());
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\",\"params\":{\"n\":1.10}}",
        RpcWriter.request("q", "ping", PARAMS).toSlice().text());
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\","
            + "\"params\":{\"n\":1.10,\"_meta\":{\"m\":2}}}",
        RpcWriter.request(7, "ping", PARAMS, JsonSlice.of("{\"m\":2}")).toSlice().text());
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notice\",\"params\":{\"n\":1.10}}",
        RpcWriter.notification("notice", PARAMS).toSlice().text());
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"n\":1.10}}",
        RpcWriter.result(ID, PARAMS).toSlice().text());
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32601,\"message\":\"no\"}}",
        RpcWriter.error(ID, -32601, "no").toSlice().text());
    assertEquals(
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"n\":1.10}}",
        RpcWriter.error(ID, PARAMS).toSlice().text());
  }

  @Test
  void aToolResultHasItsBlocksAndMembersInOrder() {
    assertEquals(
        "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"},"
            + "{\"n\":1.10}],\"structuredContent\":{\"n\":1.10},\"_meta\":{\"n\":1.10}}",
        ToolResult.text("a")
            .addText("b")
            .addBlock(PARAMS)
            .structured(PARAMS)
            .meta(PARAMS)
            .done()
            .text());
    assertEquals(
        "{\"content\":[{\"n\":1.10}],\"isError\":true}", ToolResult.of(PARAMS).error().text());
  }

  @Test
  void onlyTheMemberOfAResultMakesItAnError() {
    assertTrue(ToolResult.isError(ToolResult.text("no").error()));
    assertFalse(ToolResult.isError(ToolResult.text("\"isError\":true").done()));
    assertFalse(ToolResult.isError(JsonSlice.of("{\"isError\":false}")));
    assertFalse(ToolResult.isError(JsonSlice.of("{\"a\":{\"isError\":true}}")));
  }
}
