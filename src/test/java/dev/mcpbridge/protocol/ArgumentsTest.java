package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {

  @Test
  void keepsNumbersKeysAndEscapes() {
    String sent =
        "{ \"b\": 9007199254740993,\n \"a\" : [1.10, 1e2, -0], \"s\":\"x \\\" \\u00e9\" }";

    Arguments read = Arguments.read(sent.getBytes(StandardCharsets.UTF_8), 10);

    assertEquals(
        "{\"b\":9007199254740993,\"a\":[1.10,1e2,-0],\"s\":\"x \\\" \\u00e9\"}",
        read.json().text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "1",
        "\"x\"",
        "true",
        "[]",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"x\":{\"a\":1,\"a\":2}}",
        "{\"a\":",
        "\uFEFF{}"
      })
  void rejectsAnythingButAnObjectWithUniqueKeys(String body) {
    BridgeException failure =
        assertThrows(
            BridgeException.class, () -> Arguments.read(body.getBytes(StandardCharsets.UTF_8), 10));
    assertEquals(ErrorCode.MALFORMED_REQUEST, failure.code());
  }

  @Test
  void rejectsUtf16() {
    assertThrows(
        BridgeException.class,
        () -> Arguments.read("{\"a\":1}".getBytes(StandardCharsets.UTF_16), 10));
  }
}
