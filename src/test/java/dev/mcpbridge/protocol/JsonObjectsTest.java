package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonObjectsTest {
  @Property(tries = 2_000)
  void decodesStringsWrittenByJackson(@ForAll String text) throws IOException {
    JsonSlice written = JsonSlice.of(Json.mapper().writeValueAsBytes(text));

    assertEquals(Json.tree(written).textValue(), JsonObjects.string(written));
  }

  @Property(tries = 1_000)
  void decodesStringsOfEscapesOnly(@ForAll String text) {
    StringBuilder escaped = new StringBuilder("\"");
    text.chars().forEach(unit -> escaped.append(String.format("\\u%04X", unit)));

    assertEquals(text, JsonObjects.string(JsonSlice.of(escaped + "\"")));
  }

  @Test
  void decodesEveryShortEscape() {
    assertEquals(
        "\"\\/\b\f\n\r\tü", JsonObjects.string(JsonSlice.of("\"\\\"\\\\\\/\\b\\f\\n\\r\\tü\"")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\\\"", "7", "null", "\""})
  void invalidStringYieldsNull(String value) {
    assertNull(JsonObjects.string(JsonSlice.of(value)));
  }
}
