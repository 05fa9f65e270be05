package dev.mcpbridge.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.mcpbridge.model.Glob;
import java.util.regex.Pattern;

/** Templates of servers, which the rules for resources judge. */
class TemplatePatternFuzzTest {
  private static final int MAX = 20;

  /** A rule about what a template can become is about the template. */
  @FuzzTest(maxDuration = "1000h")
  void patternThatMatchesAnExpansionMatchesTheTemplate(FuzzedDataProvider data) {
    StringBuilder template = new StringBuilder();
    StringBuilder expansion = new StringBuilder();
    StringBuilder pattern = new StringBuilder();
    for (int parts = data.consumeInt(0, 4); parts > 0; parts--) {
      String literal = literal(data);
      String value = literal(data);
      template.append(literal).append("{x}");
      expansion.append(literal).append(value);
      pattern.append(data.consumeBoolean() ? "*" : literal);
      pattern.append(data.consumeBoolean() ? "*" : value);
    }
    Glob glob = new Glob(pattern.toString());
    String text = data.consumeBoolean() ? expansion.toString() : literal(data);

    assertTrue(TemplatePattern.intersects(glob, template.toString()));
    assertEquals(glob.matches(text), TemplatePattern.intersects(glob, text), "without expressions");
  }

  @FuzzTest(maxDuration = "1000h")
  void textMatchesATemplateExactlyIfItIsAnExpansionOfIt(FuzzedDataProvider data) {
    StringBuilder template = new StringBuilder();
    StringBuilder regex = new StringBuilder();
    for (int parts = data.consumeInt(0, 4); parts > 0; parts--) {
      String literal = literal(data);
      template.append(literal).append(parts > 1 ? "{x}" : "");
      regex.append(Pattern.quote(literal)).append(parts > 1 ? ".*" : "");
    }
    String text = literal(data);

    assertEquals(
        Pattern.compile(regex.toString(), Pattern.DOTALL).matcher(text).matches(),
        TemplatePattern.intersects(new Glob(text), template.toString()));
  }

  /** Text without what has a meaning in a pattern or a template. */
  private static String literal(FuzzedDataProvider data) {
    return data.consumeString(MAX).replaceAll("[*{}\0\\ud800-\\udfff]", "");
  }
}
