package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonScannerTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.10",
        "1e2",
        "-1.5E-7",
        "\"\"",
        "\"a\\n\\u00e9\\/\"",
        " {\"a\" : [1 , {\"b\":\"\u00fc\ud83c\udf89\"} ] } ",
        "9007199254740993",
        "\"eight plain bytes and more of them\"",
        "\"\\ud83c\\udf89\""
      })
  void acceptsValidJson(String text) {
    assertDoesNotThrow(() -> scan(JsonScanner.strict(10), bytes(text)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{\"a\":",
        "{} x",
        "{}{}",
        "[1,]",
        "{\"a\":1,}",
        "{'a':1}",
        "/**/1",
        "01",
        "+1",
        "NaN",
        "Infinity",
        ".5",
        "5.",
        "1e",
        "tru",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"open",
        "{\"a\" 1}",
        "{1:2}",
        "[",
        "]",
        "-"
      })
  void rejectsInvalidJson(String text) {
    assertThrows(JsonSyntaxException.class, () -> scan(JsonScanner.transit(10), bytes(text)));
  }

  @Test
  void rejectsInvalidUtf8() {
    for (int[] invalid :
        new int[][] {
          {0xFF, 0xFE},
          {0xC0, 0xAF},
          {0xE0, 0x80, 0x80},
          {0xED, 0xA0, 0x80},
          {0xF4, 0x90, 0x80, 0x80},
          {0xC3},
          {0xE2, 0x82},
          {0x80}
        }) {
      byte[] text = new byte[invalid.length + 2];
      text[0] = text[text.length - 1] = '"';
      for (int i = 0; i < invalid.length; i++) {
        text[i + 1] = (byte) invalid[i];
      }
      assertThrows(JsonSyntaxException.class, () -> scan(JsonScanner.transit(10), text));
    }
  }

  @Test
  void strictModeRejectsAmbiguousValues() {
    for (String text : List.of("\"\\ud800\"", "\"\\udc00\\ud800\"", "1e400", "1".repeat(10_000))) {
      assertThrows(JsonSyntaxException.class, () -> scan(JsonScanner.strict(10), bytes(text)));
      assertDoesNotThrow(() -> scan(JsonScanner.transit(10), bytes(text)));
    }
  }

  @Test
  void limitsTheDepth() {
    String deep = "[".repeat(200) + "]".repeat(200);
    assertDoesNotThrow(() -> scan(JsonScanner.strict(200), bytes(deep)));
    assertThrows(JsonSyntaxException.class, () -> scan(JsonScanner.strict(199), bytes(deep)));
    assertThrows(
        JsonSyntaxException.class, () -> scan(JsonScanner.strict(200), bytes("[".repeat(200_000))));
  }

  @Test
  void visitsMembersWithTheirOffsets() throws JsonSyntaxException {
    byte[] text = bytes("{\"id\" : 7,\"result\":{\"a\":[1]}}");
    List<String> seen = new ArrayList<>();

    JsonScanner.transit(10)
        .object(
            text,
            0,
            text.length,
            (nameFrom, nameTo, from, to) ->
                seen.add(cut(text, nameFrom, nameTo) + "=" + cut(text, from, to)));

    assertEquals(List.of("id=7", "result={\"a\":[1]}"), seen);
  }

  @Test
  void findsASpecialByteAtEveryOffset() {
    for (int i = 0; i < 20; i++) {
      String plain = "x".repeat(i);
      assertDoesNotThrow(() -> scan(JsonScanner.strict(5), bytes("\"" + plain + "\\\"y\"")));
      assertDoesNotThrow(() -> scan(JsonScanner.strict(5), bytes("\"" + plain + "é\"")));
      assertThrows(
          JsonSyntaxException.class,
          () -> scan(JsonScanner.strict(5), bytes("\"" + plain + "\u0001\"")));
    }
  }

  private static void scan(JsonScanner scanner, byte[] text) throws JsonSyntaxException {
    scanner.document(text, 0, text.length);
  }

  private static String cut(byte[] text, int from, int to) {
    return new String(text, from, to - from, StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
