package dev.mcpbridge.cli.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TerminalTextTest {

  @ParameterizedTest
  @ValueSource(
      ints = {
        0, 7, 8, 0xB, 0xC, 0xD, 0x1B, 0x7F, 0x85, 0x9B, 0xAD, 0x200B, 0x200E, 0x2028, 0x2029,
        0x202A, 0x202E, 0x2060, 0x2066, 0x2069, 0xFEFF, 0xE0041
      })
  void invisibleCharactersAreEscaped(int c) {
    assertEquals(
        "a" + String.format("\\u%04x", c) + "b",
        TerminalText.escape("a" + Character.toString(c) + "b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\nb\tc", "grüße 日本 🎉", "e\u0301"})
  void visibleTextIsUnchanged(String text) {
    assertEquals(text, TerminalText.escape(text));
  }

  @Test
  void jsonThatIsTooWideIsIndentedCompletely() throws Exception {
    JsonNode json = Json.mapper().readTree("{\"a\":[1,2.50],\"b\":\"\\u001b[2J\\u202e\"}");
    assertEquals(1, TerminalText.json(json, 80).lines().count());
    assertTrue(TerminalText.json(json, 80).contains("\\u202e"));
    String indented = TerminalText.json(json, 20);
    assertTrue(indented.lines().count() > 3, indented);
    assertEquals(TerminalText.json(json, 80).replaceAll("\\s", ""), indented.replaceAll("\\s", ""));
  }

  @Test
  void longTextIsCutToLinesAndColumns() {
    assertEquals(List.of("a", "b", "… 2 more lines"), TerminalText.truncate("a\nb\nc\nd", 10, 2));
    assertEquals(List.of("abcd…"), TerminalText.truncate("abcdefgh", 5, 2));
    assertEquals(List.of("a  b"), TerminalText.truncate("a\tb", 5, 2));
    assertEquals(List.of("{not json"), TerminalText.truncate("{not json", 20, 2));
    assertEquals(List.of("{\"a\":1}"), TerminalText.truncate(" {\"a\" : 1} ", 20, 2));
    assertEquals(List.of(), TerminalText.truncate("", 20, 2));
  }

  @Test
  void wideCharactersAreCutByTheirColumns() {
    for (String line : TerminalText.truncate("日本語の長い文章もある", 10, 2)) {
      assertTrue(new AttributedString(line).columnLength() <= 10, line);
    }
    assertEquals(List.of("日本"), TerminalText.truncate("日本", 4, 2));
  }
}
