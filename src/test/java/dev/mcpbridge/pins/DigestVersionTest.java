package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestVersionTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final String TOOL =
      "{\"name\":\"push\",\"description\":\"Pushes\",\"inputSchema\":{\"type\":\"object\","
          + "\"properties\":{\"n\":{\"maximum\":1.50},\"a\":{\"type\":\"string\"}}},"
          + "\"annotations\":{\"destructiveHint\":true}}";

  private static String digest(String json) {
    return DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, JsonSlice.of(json));
  }

  /** Lock files hold this digest: it must never change. */
  @Test
  void digestOfTheFirstVersionStaysWhatItIs() {
    assertEquals(
        "v1:sha256:1794431a3af5fceca4b2e46f399586b668ecc81e8c6f98d193168d1227334c21", digest(TOOL));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"annotations\":{\"destructiveHint\":true},\"description\":\"Pushes\",\"inputSchema\":"
            + "{\"properties\":{\"a\":{\"type\":\"string\"},\"n\":{\"maximum\":1.50}},"
            + "\"type\":\"object\"},\"name\":\"push\"}",
        " { \"name\" : \"push\", \"description\": \"P\\u0075shes\", \"icons\": [1], \"_meta\": {},"
            + "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"maximum\":1.50},"
            + "\"a\":{\"type\":\"string\"}}},\"annotations\":{\"destructiveHint\":true} }"
      })
  void orderBlanksEscapesAndMembersThatDoNotCountMakeNoDifference(String same) {
    assertEquals(digest(TOOL), digest(same));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"name\":\"push\",\"description\":\"Pushes\u200B\"}",
        "{\"name\":\"push\",\"description\":\"Pushes\",\"title\":\"\"}",
        "{\"name\":\"push\",\"description\":\"Pushes\",\"inputSchema\":{\"maximum\":1.5}}",
        "{\"name\":\"push\",\"description\":\"Pushes\",\"inputSchema\":{\"maximum\":1.50}}",
        "{\"name\":\"push\",\"description\":\"Pushes\",\"outputSchema\":{}}",
        "{\"name\":\"push\",\"description\":\"Pushes\",\"annotations\":{\"title\":\"x\"}}",
        "{\"name\":\"push\",\"description\":\"Pushes\",\"description\":\"Pushes\"}",
        "{\"name\":\"Push\",\"description\":\"Pushes\"}"
      })
  void everyMemberThatCountsMakesADifference(String other) {
    String base = "{\"name\":\"push\",\"description\":\"Pushes\"}";

    assertNotEquals(digest(base), digest(other));
  }

  @Test
  void numbersCountAsTheyWereWritten() {
    assertNotEquals(
        digest("{\"name\":\"a\",\"inputSchema\":{\"maximum\":1.5}}"),
        digest("{\"name\":\"a\",\"inputSchema\":{\"maximum\":1.50}}"));
  }

  @Test
  void serverAndKindCount() {
    JsonSlice json = JsonSlice.of("{\"name\":\"a\"}");

    assertNotEquals(
        DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, json),
        DigestVersion.V1.digest(SERVER, DefinitionKind.PROMPT, json));
    assertNotEquals(
        DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, json),
        DigestVersion.V1.digest(new ServerId("t"), DefinitionKind.TOOL, json));
  }
}
