package dev.mcpbridge.cli.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MarkdownTest {
  private static List<String> rendered(String text, int width) {
    return Markdown.lines(text, width).stream().map(AttributedString::toString).toList();
  }

  @Test
  void wrappedWordsKeepTheirStyles() {
    assertEquals(
        List.of("one two", "thrice", "four", ""), rendered("one *two*\nthrice\n**four**\n", 10));
    assertEquals(List.of("a", "b", ""), rendered("a  \nb", 80));
    AttributedString bold = Markdown.lines("x **y z** w", 80).get(0);
    assertEquals("x y z w", bold.toString());
    assertEquals(AttributedStyle.BOLD.getStyle(), bold.styleAt(2).getStyle());
    assertEquals(AttributedStyle.DEFAULT.getStyle(), bold.styleAt(6).getStyle());
  }

  @Test
  void longWordIsNotSplit() {
    String word = "x".repeat(95);
    assertEquals(List.of("an", word, "end", ""), rendered("an " + word + " end", 40));
  }

  @Test
  void wideCharactersTakeTwoColumns() {
    List<AttributedString> lines = Markdown.lines("日本語の長い文章 日本語 日本語 🎉 grüße", 17);

    assertEquals("日本語の長い文章", lines.get(0).toString());
    assertEquals("日本語 日本語 🎉", lines.get(1).toString());
    lines.forEach(line -> assertTrue(line.columnLength() <= 17, line.toString()));
    Markdown.lines("日本語".repeat(20), 15)
        .forEach(line -> assertTrue(line.columnLength() <= 15, line.toString()));
  }

  @Test
  void contentOfListsIsIndented() {
    assertEquals(
        List.of(
            "• one that is",
            "  longer",
            "  1. within",
            "  2. this",
            "• two",
            "    code();",
            "• three",
            ""),
        rendered(
            "- one that is longer\n  1. within\n  2. this\n- two\n\n  ```\n  code();\n  ```\n-"
                + " three\n",
            14));
    assertEquals(List.of("7. a", "8. b", ""), rendered("7. a\n8. b", 80));
    assertEquals(List.of("• a", "• b", "", "after", ""), rendered("- a\n- b\n\nafter", 80));
  }

  @Test
  void emptyItemKeepsItsMarker() {
    assertEquals(List.of("• ", "• a", ""), rendered("-\n- a\n", 80));
    assertEquals(List.of("• 1. a", "• b", ""), rendered("- 1. a\n- b\n", 80));
  }

  @Test
  void paragraphsOfAnItemAreOnSeparateLines() {
    assertEquals(
        List.of("• first", "  second", "• other", ""),
        rendered("- first\n\n  second\n- other\n", 80));
  }

  @Test
  void thereAreNoConsecutiveEmptyLines() {
    String text =
        "# h\n\n- a\n  - b\n\n> q\n>\n> r\n\n***\n\n```\nx\n```\n\n| a |\n|---|\n| b |\n\nend";
    List<String> lines = rendered(text, 80);
    for (int i = 1; i < lines.size(); i++) {
      assertFalse(lines.get(i).isEmpty() && lines.get(i - 1).isEmpty(), lines.toString());
    }
    assertTrue(lines.containsAll(List.of("h", "• a", "  • b", "│ q", "│ r", "─".repeat(80))));
  }

  @Test
  void codeIsUnchanged() {
    assertEquals(
        List.of("  if (x)  {", "", "    y", ""),
        rendered("```java\nif (x)  {\n\n  y\n```", 8).stream()
            .map(line -> line.isBlank() ? "" : line)
            .toList());
    assertEquals(List.of("  <b>", ""), rendered("<b>\n", 80));
    assertEquals(List.of("use x = 1 now", ""), rendered("use `x = 1` now", 80));
  }

  @Test
  void tableThatIsTooWideIsShownAsAList() {
    String table = "| a | bb |\n|---|---|\n| long cell | 日本 |\n| x | y |\n";
    assertEquals(
        List.of("a          bb", "long cell  日本", "x          y", ""), rendered(table, 15));
    assertEquals(
        List.of("• a: long cell", "  bb: 日本", "• a: x", "  bb: y", ""), rendered(table, 14));
    rendered("| head |\n|---|\n| " + "word ".repeat(20) + "|\n", 20)
        .forEach(line -> assertTrue(line.length() <= 20, line));
  }

  @Test
  void destinationsOfLinksAreShown() {
    assertEquals(
        List.of("click <https://evil.example/>", ""),
        rendered("[click](https://evil.example/)", 80));
    assertEquals(
        List.of("https://a.example/ !", ""),
        rendered("[https://a.example/](https://a.example/) !", 80));
    assertEquals(
        List.of("https://good.example/ <https://evil.example/>", ""),
        rendered("[https://good.example/](https://evil.example/)", 80));
    assertEquals(List.of("picture <x.png>", ""), rendered("![picture](x.png)", 80));
  }

  @Test
  void controlCharactersAreEscaped() {
    assertEquals(List.of("a\\u001b[2Jb \\u202ec", ""), rendered("a\u001b[2Jb \u202ec", 80));
    assertEquals(List.of("\\u001b \\u0007", ""), rendered("&#27; &#7;", 80));
    assertEquals(List.of("x <\\u202ey>", ""), rendered("[x](&#x202e;y)", 80));
    assertEquals(List.of("  \\u001b", ""), rendered("```\n\u001b\n```", 80));
  }

  static Stream<String> texts() {
    return Stream.of(
        "One paragraph\nof two lines.\n\nAnother *one*.\n",
        "# Head\n\n- a\n- b\n  - c\n\n    more of c\n- d\n\nThe end.",
        "1. a\n\n   ```\n   code\n\n   more\n   ```\n\n2. b\n\n3. c\n",
        "Before\n```\ncode\n\n\nafter a gap\n```\nAfter\n\n| a | b |\n|---|---|\n| c | d |\n\nEnd",
        "````\n```\nno end\n```\n\nstill code\n````\n\nwords",
        "~~~\n```\n~~~\n\nwords\n\n> quote\n> of two\n\nwords",
        "- ```\n  code\n\n  more\n  ```\n- b\n\nwords\n\n```\nx\n\n-y\n```\nend",
        "a ```b``` c\n\n``` x ` y\n\nwords\n\n2026 was\n\n1) one\n\n1) two\n\nend",
        "```\nnever closed\n\nstill code");
  }

  @ParameterizedTest
  @MethodSource("texts")
  void splitTextIsRenderedLikeTheWholeText(String text) {
    List<String> whole = nonBlank(rendered(text, 30));
    for (int cut = 0; cut <= text.length(); cut++) {
      assertEquals(whole, streamed(text.substring(0, cut), text.substring(cut)), "cut at " + cut);
    }
    assertEquals(whole, streamed(text.split("")), "character by character");
  }

  private static List<String> streamed(String... pieces) {
    MarkdownBlocks markdownBlocks = new MarkdownBlocks();
    List<String> lines = new ArrayList<>();
    for (String piece : pieces) {
      markdownBlocks.append(piece).ifPresent(block -> lines.addAll(rendered(block, 30)));
    }
    markdownBlocks.flush().ifPresent(block -> lines.addAll(rendered(block, 30)));
    return nonBlank(lines);
  }

  private static List<String> nonBlank(List<String> lines) {
    return lines.stream().filter(line -> !line.isBlank()).toList();
  }

  @Test
  void blockIsReturnedAsSoonAsItIsComplete() {
    MarkdownBlocks markdownBlocks = new MarkdownBlocks();
    assertTrue(markdownBlocks.append("One.\n").isEmpty());
    assertTrue(markdownBlocks.append("\n").isEmpty());
    assertEquals("One.\n\n", markdownBlocks.append("Tw").orElseThrow());
    assertEquals("Two.", markdownBlocks.append("o.").or(markdownBlocks::flush).orElseThrow());
    assertTrue(markdownBlocks.flush().isEmpty());
    assertEquals("- a\n\n", markdownBlocks.append("- a\n\n- b").orElseThrow());
  }

  @Test
  void unclosedCodeDoesNotAffectTheNextText() {
    MarkdownBlocks markdownBlocks = new MarkdownBlocks();
    markdownBlocks.append("```\nx\n");
    markdownBlocks.flush();
    assertEquals("a\n\n", markdownBlocks.append("a\n\nb").orElseThrow());
  }
}
