package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RpcReaderTest {

  @Test
  void distinguishesTheKindsOfMessages() throws JsonSyntaxException {
    assertEquals(RpcMessage.Kind.RESULT, read("{\"id\":1,\"result\":{}}").kind());
    assertEquals(RpcMessage.Kind.ERROR, read("{\"id\":1,\"error\":{}}").kind());
    assertEquals(RpcMessage.Kind.REQUEST, read("{\"id\":\"a\",\"method\":\"ping\"}").kind());
    assertEquals(RpcMessage.Kind.NOTIFICATION, read("{\"method\":\"x\",\"params\":{}}").kind());
  }

  @Test
  void keepsThePayloadUnchanged() throws JsonSyntaxException {
    assertEquals("{\"a\":1.10}", read("{\"result\" : {\"a\":1.10} , \"id\":1}").payload().text());
  }

  @Test
  void distinguishesNumericIdsFromStrings() throws JsonSyntaxException {
    assertEquals(1, read("{\"id\":1,\"result\":{}}").numericId());
    assertEquals(-1, read("{\"id\":\"1\",\"result\":{}}").numericId());
    assertEquals(-1, read("{\"id\":1.0,\"result\":{}}").numericId());
    assertEquals(-1, read("{\"id\":null,\"error\":{}}").numericId());
  }

  @Test
  void detectsContentThatIsNotAnArray() throws JsonSyntaxException {
    assertFalse(read("{\"id\":1,\"result\":{\"content\":\"x\"}}").wellShaped());
  }

  @Test
  void rejectsInvalidMessages() {
    assertThrows(JsonSyntaxException.class, () -> read("{}"));
    assertThrows(JsonSyntaxException.class, () -> read("[]"));
    assertThrows(JsonSyntaxException.class, () -> read("{\"id\":1,\"result\":1,\"error\":2}"));
    assertThrows(JsonSyntaxException.class, () -> read("hello"));
  }

  @Test
  void findsTheIdInAnOversizedLine() {
    assertEquals(42, RpcReader.findId(bytes("{\"jsonrpc\":\"2.0\",\"id\": 42,\"res"), bytes("")));
    assertEquals(7, RpcReader.findId(bytes("{\"result\":\"x"), bytes("yyy\",\"id\":7}")));
    assertEquals(-1, RpcReader.findId(bytes("{\"result\":\"x"), bytes("yyy")));
  }

  private static RpcMessage read(String text) throws JsonSyntaxException {
    byte[] bytes = bytes(text);
    return new RpcReader(50).read(bytes, 0, bytes.length);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
