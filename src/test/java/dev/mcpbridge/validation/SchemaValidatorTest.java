package dev.mcpbridge.validation;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.validation.SchemaValidator.Subject;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which validations run inline, and which on worker threads. */
@ExtendWith(VertxExtension.class)
class SchemaValidatorTest {
  private static final String EXPONENTIAL =
      """
      {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["b"]},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["c"]}]}}}""";

  private final Subject subject =
      new Subject("k", "inputSchema", "t", "s", JsonSlice.of(EXPONENTIAL));
  private Vertx vertx;
  private SchemaValidator validator;

  @BeforeEach
  void create(Vertx vertx) {
    this.vertx = vertx;
    validator = new SchemaValidator(vertx, 20_000, 200);
  }

  private Future<Verdict> validate(JsonNode value) {
    return validator.validate("caller", subject, value, 200);
  }

  private boolean isInline(JsonNode value) throws Exception {
    boolean[] isComplete = new boolean[1];
    EventLoops.await(
        vertx,
        () -> {
          Future<Verdict> verdict = validate(value);
          isComplete[0] = verdict.isComplete();
          return verdict;
        });
    return isComplete[0];
  }

  /** Several, since a fast worker thread may look like an inline validation. */
  private boolean areInline(JsonNode value, int times) throws Exception {
    boolean all = true;
    for (int i = 0; i < times; i++) {
      all &= isInline(value);
    }
    return all;
  }

  @Test
  void heavyValuesMoveToWorkersUntilTheyAreQuickAgain() throws Exception {
    JsonNode small = Json.tree("{\"b\":1}");
    JsonNode heavy = Json.tree("{\"a\":".repeat(20) + "{}" + "}".repeat(20));
    EventLoops.await(vertx, () -> validate(small));
    assertTrue(isInline(small));

    Verdict unchecked = EventLoops.await(vertx, () -> validate(heavy));

    assertInstanceOf(Verdict.Unchecked.class, unchecked);
    assertFalse(areInline(small, 5));
    boolean isInlineAgain = false;
    for (int i = 0; i < 1_000 && !isInlineAgain; i++) {
      isInlineAgain = areInline(small, 5);
    }
    assertTrue(isInlineAgain);
  }
}
