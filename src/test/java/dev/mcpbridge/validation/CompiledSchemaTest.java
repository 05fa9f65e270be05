package dev.mcpbridge.validation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bounds on the cost of schemas from upstreams. */
class CompiledSchemaTest {
  private static final WorkBudget.Size STEPS = new WorkBudget.Size(50_000, 10_000);

  /** Worst order of properties: the recursive ones precede the discriminator. */
  private static final String EXPRESSION =
      """
      {"$ref": "#/$defs/node", "$defs": {"node": {"%s": [
        {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"},
          "right": {"$ref": "#/$defs/node"}, "kind": {"const": "add"}}, "required": ["kind"]},
        {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"},
          "right": {"$ref": "#/$defs/node"}, "kind": {"const": "multiply"}}, "required": ["kind"]},
        {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"},
          "kind": {"enum": ["negate"]}}, "required": ["kind"]},
        {"type": "object", "properties": {"value": {"type": "number"},
          "kind": {"const": "number"}}, "required": ["kind", "value"]}]}}}""";

  private static CompiledSchema compiled(String schema) {
    return CompiledSchema.of(JsonSlice.of(schema.replace('\'', '"')));
  }

  private static JsonNode value(String json) throws Exception {
    return Json.tree(json.replace('\'', '"'));
  }

  private static String chain(int depth, String leaf) {
    return "{'kind':'negate','left':".repeat(depth) + leaf + "}".repeat(depth);
  }

  @ParameterizedTest
  @ValueSource(strings = {"oneOf", "anyOf"})
  void treeOfDiscriminatedUnionsIsLinear(String union) throws Exception {
    CompiledSchema schema = compiled(EXPRESSION.formatted(union));

    assertEquals(
        Verdict.FITS, schema.validate(value(chain(60, "{'kind':'number','value':1}")), STEPS));
    Verdict verdict = schema.validate(value(chain(60, "{'kind':'number','value':'one'}")), STEPS);
    assertInstanceOf(Verdict.Mismatch.class, verdict);
  }

  @Test
  void errorsOfUnionContainTheLocation() throws Exception {
    Verdict verdict =
        compiled(EXPRESSION.formatted("oneOf"))
            .validate(value(chain(2, "{'kind':'number','value':'one'}")), STEPS);

    Verdict.Mismatch mismatch = assertInstanceOf(Verdict.Mismatch.class, verdict);
    assertTrue(
        mismatch.errors().stream().anyMatch(error -> error.contains("/left/left/value")),
        mismatch.toString());
  }

  @Test
  void unionWithoutDiscriminatorEndsAtTheBudget() throws Exception {
    CompiledSchema schema =
        compiled(
            "{'anyOf':[{'properties':{'a':{'$ref':'#'}}},{'properties':{'a':{'$ref':'#'}}}],"
                + "'not':{'required':['leaf']}}");

    Verdict verdict =
        schema.validate(value("{'a':".repeat(26) + "{'leaf':1}" + "}".repeat(26)), STEPS);

    assertTrue(assertInstanceOf(Verdict.Unchecked.class, verdict).overBudget());
  }

  @Test
  void nestedPairsEndAtTheBudgetForEmptyObject() throws Exception {
    StringBuilder text = new StringBuilder("{'$ref':'#/$defs/d0','$defs':{");
    for (int i = 0; i < 41; i++) {
      String next = "{'$ref':'#/$defs/d" + (i + 1) + "'}";
      text.append("'d" + i + "':{'allOf':[" + next + "," + next + "]},");
    }
    CompiledSchema schema = compiled(text + "'d41':{}}}");

    assertNull(schema.problem());
    assertTrue(
        assertInstanceOf(Verdict.Unchecked.class, schema.validate(value("{}"), STEPS))
            .overBudget());
  }

  @Test
  void nestedDialectIsBudgeted() throws Exception {
    CompiledSchema schema =
        compiled(
            "{'$ref':'#/$defs/x','$defs':{'x':{'$id':'urn:x',"
                + "'$schema':'http://json-schema.org/draft-07/schema#',"
                + "'allOf':[{'anyOf':[{'properties':{'a':{'$ref':'#'}}},"
                + "{'properties':{'a':{'$ref':'#'}}}]},{'not':{'required':['leaf']}}]}}}");

    Verdict verdict =
        schema.validate(value("{'a':".repeat(40) + "{'leaf':1}" + "}".repeat(40)), STEPS);

    assertTrue(assertInstanceOf(Verdict.Unchecked.class, verdict).overBudget(), verdict.toString());
  }

  @Test
  void unusableSchemaHasAReason() {
    assertNotNull(compiled("{'$ref':'#/$defs/missing'}").problem());
    assertNotNull(compiled("{'$ref':'https://example.org/other.json'}").problem());
    assertNotNull(compiled("{'oneOf':{}}").problem());
    assertNotNull(compiled("{'title':'" + "x".repeat(CompiledSchema.MAX_BYTES) + "'}").problem());
    assertNotNull(compiled("{'not':".repeat(990) + "{}" + "}".repeat(990)).problem());
  }

  @Test
  void hugeNumberIsNeverAccepted() throws Exception {
    CompiledSchema schema = compiled("{'properties':{'n':{'multipleOf':7}}}");

    Verdict verdict = schema.validate(value("{'n':1" + "0".repeat(400) + "}"), STEPS);

    assertTrue(verdict instanceof Verdict.Unchecked || verdict instanceof Verdict.Mismatch);
    assertEquals(Verdict.FITS, schema.validate(value("{'n':14}"), STEPS));
  }

  @Test
  void numberOfErrorsIsBounded() throws Exception {
    CompiledSchema schema = compiled("{'items':{'type':'string','minLength':3,'pattern':'^a'}}");

    Verdict verdict =
        schema.validate(
            value("[" + "1,".repeat(9_999) + "1]"), new WorkBudget.Size(100_000, 60_000));

    assertEquals(
        ValidationRun.MAX_ERRORS,
        assertInstanceOf(Verdict.Mismatch.class, verdict).errors().size());
  }
}
