package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.DefinitionDiff.Difference;
import dev.mcpbridge.pins.DefinitionDiff.Finding;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DefinitionDiffTest {

  private static DefinitionDiff diff(String approved, String current) {
    return diff(DefinitionKind.TOOL, approved, current);
  }

  private static DefinitionDiff diff(DefinitionKind kind, String approved, String current) {
    Pin pin =
        new Pin(
            false,
            "v1:sha256:0",
            approved == null ? null : JsonSlice.of(approved.replace('\'', '"')),
            "2026-01-01T00:00:00Z",
            "alice");
    JsonSlice json = JsonSlice.of(current.replace('\'', '"'));
    return DefinitionDiff.of(
        new Judgement(
            new Name(kind, "t"), Judgement.State.CHANGED, true, json, "v1:sha256:1", pin));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'description':'a'| 'description':'b'| TEXT_CHANGED",
        "'title':'a'| 'name':'t'| TEXT_CHANGED",
        "'annotations':{'destructiveHint':true}| 'annotations':{'destructiveHint':false}"
            + "| ANNOTATION_WEAKENED",
        "'name':'t'| 'annotations':{'readOnlyHint':true}| ANNOTATION_WEAKENED",
        "'annotations':{'openWorldHint':true}| 'annotations':{'openWorldHint':false}"
            + "| ANNOTATION_WEAKENED",
        "'name':'t'| 'annotations':{'title':'x'}| ANNOTATION_CHANGED",
        "'inputSchema':{'properties':{}}| 'inputSchema':{'properties':{'x':{}}}| ARGUMENT_ADDED",
        "'inputSchema':{'properties':{'o':{'properties':{}}}}"
            + "| 'inputSchema':{'properties':{'o':{'properties':{'x':{}}}}}| ARGUMENT_ADDED",
        "'inputSchema':{'required':['a']}| 'inputSchema':{'required':[]}| SCHEMA_WIDENED",
        "'inputSchema':{'additionalProperties':false}| 'inputSchema':{}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'enum':['x']}}}"
            + "| 'inputSchema':{'properties':{'a':{'enum':['x','y']}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'type':'string'}}}"
            + "| 'inputSchema':{'properties':{'a':{'type':['string','object']}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'maxLength':5}}}"
            + "| 'inputSchema':{'properties':{'a':{'maxLength':500}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'pattern':'x'}}}"
            + "| 'inputSchema':{'properties':{'a':{}}}| SCHEMA_WIDENED",
        "'inputSchema':{'type':'object'}| 'inputSchema':{}| SCHEMA_WIDENED",
        "'inputSchema':{'additionalProperties':false}"
            + "| 'inputSchema':{'additionalProperties':{'type':'string'}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'const':1}}}"
            + "| 'inputSchema':{'properties':{'a':{}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'items':{'maximum':1}}}}"
            + "| 'inputSchema':{'properties':{'a':{'items':{'maximum':9}}}}| SCHEMA_WIDENED",
        "'inputSchema':{'anyOf':[{'required':['a']}]}"
            + "| 'inputSchema':{'anyOf':[{'required':['a']},{}]}| SCHEMA_WIDENED",
        "'inputSchema':{'$defs':{'d':{'properties':{}}}}"
            + "| 'inputSchema':{'$defs':{'d':{'properties':{'x':{}}}}}| ARGUMENT_ADDED",
        "'inputSchema':{'properties':{'a':{'type':'string'}}}"
            + "| 'inputSchema':{'properties':{'a':true}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'maximum':1.0}}}"
            + "| 'inputSchema':{'properties':{'a':{'maximum':1.00}}}| SCHEMA_CHANGED",
        "'outputSchema':{}| 'outputSchema':{'type':'object'}| SCHEMA_CHANGED",
        "'name':'t'| 'description':'a\u202Eb'| HIDDEN_CHARACTERS"
      })
  void whatToLookAtFirstIsNamed(String approved, String current, Finding expected) {
    DefinitionDiff diff = diff("{" + approved + "}", "{" + current + "}");

    assertTrue(diff.findings().contains(expected), diff.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'annotations':{'destructiveHint':false}| 'annotations':{'destructiveHint':true}"
            + "| ANNOTATION_WEAKENED",
        "'annotations':{'readOnlyHint':true}| 'name':'t'| ANNOTATION_WEAKENED",
        "'inputSchema':{'properties':{'x':{}}}| 'inputSchema':{'properties':{}}| ARGUMENT_ADDED",
        "'inputSchema':{'required':[]}| 'inputSchema':{'required':['a']}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'enum':['x','y']}}}"
            + "| 'inputSchema':{'properties':{'a':{'enum':['x']}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{}}}"
            + "| 'inputSchema':{'properties':{'a':{'type':'string'}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'type':'number'}}}"
            + "| 'inputSchema':{'properties':{'a':{'type':'integer'}}}| SCHEMA_WIDENED",
        "'inputSchema':{'properties':{'a':{'maxLength':500}}}"
            + "| 'inputSchema':{'properties':{'a':{'maxLength':5}}}| SCHEMA_WIDENED"
      })
  void whatIsSaferThanBeforeIsNotNamed(String approved, String current, Finding unexpected) {
    DefinitionDiff diff = diff("{" + approved + "}", "{" + current + "}");

    assertFalse(diff.findings().contains(unexpected), diff.toString());
  }

  @Test
  void differencesNameThePlaceAndBothTexts() {
    DefinitionDiff diff =
        diff(
            "{'description':'old','inputSchema':{'properties':{'a/b':{'type':'string'}}}}",
            "{'description':'new','inputSchema':{'properties':{'a/b':{'type':'number'},'c':true}}}");

    assertEquals(
        List.of(
            new Difference("/description", "old", "new"),
            new Difference("/inputSchema/properties/a~1b/type", "string", "number"),
            new Difference("/inputSchema/properties/c", null, "true")),
        diff.differences());
  }

  @Test
  void hiddenCharactersAreVisibleInNamesAndTexts() {
    DefinitionDiff diff =
        diff("{'name':'t'}", "{'description':'a\u202Eb\uDB40\uDC41','title':'\u200B'}");

    assertEquals(
        List.of(
            new Difference("/description", null, "a\\u{202E}b\\u{E0041}"),
            new Difference("/name", "t", null),
            new Difference("/title", null, "\\u{200B}")),
        diff.differences());
  }

  @Test
  void definitionThatWasNotKeptIsShownAsAWhole() {
    DefinitionDiff diff = diff(null, "{'name':'t'}");

    assertEquals(Set.of(Finding.NOT_KEPT), diff.findings());
    assertEquals(List.of(new Difference("/name", null, "t")), diff.differences());
  }

  @Test
  void manyDifferencesAreCutAndItSaysSo() {
    StringBuilder properties = new StringBuilder();
    for (int i = 0; i < 600; i++) {
      properties.append(i == 0 ? "" : ",").append("'p").append(i).append("':{}");
    }

    DefinitionDiff diff =
        diff(
            "{'inputSchema':{'properties':{'a':1}}}",
            "{'inputSchema':{'properties':{" + properties + "}}}");

    assertEquals(500, diff.differences().size());
    assertFalse(diff.isWhole());
  }
}
