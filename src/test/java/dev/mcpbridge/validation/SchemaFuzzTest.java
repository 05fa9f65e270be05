package dev.mcpbridge.validation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.fixture.LongForm;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.Validator;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Random recursive schemas and values, compared with the validator of Vert.x. */
class SchemaFuzzTest {
  private static final int SCHEMAS = LongForm.times(2_000, 10_000);
  private static final int VALUES = 2;
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final List<String> NAMES = List.of("a", "b", "kind", "next");
  private static final List<String> WORDS = List.of("x", "y", "node", "leaf", "longer");
  private static final WorkBudget.Size INLINE = new WorkBudget.Size(10_000, 2);
  private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setBaseUri("urn:fuzz")
          .setDraft(Draft.DRAFT202012)
          .setOutputFormat(OutputFormat.Flag);

  private int compared;
  private int fitting;

  @Test
  void verdictsMatchAnotherValidatorInBoundedTime() throws Exception {
    for (int seed = 0; seed < SCHEMAS; seed++) {
      Random random = new Random(seed);
      JsonNode schema = root(random);
      CompiledSchema compiled = CompiledSchema.of(Json.slice(schema));
      Validator other = Validator.create(JsonSchema.of(new JsonObject(schema.toString())), OPTIONS);
      for (int i = 0; compiled.problem() == null && i < VALUES; i++) {
        compare("seed " + seed + ": " + schema, compiled, other, value(random, 3));
      }
    }

    assertTrue(compared > SCHEMAS, "compared " + compared);
    assertTrue(fitting > SCHEMAS / 10 && compared - fitting > SCHEMAS / 10, "fitting " + fitting);
  }

  /** Measures CPU time, to exclude pauses of the machine; repeats, to exclude the JIT compiler. */
  private void compare(
      String schema, CompiledSchema compiled, Validator validator, JsonNode value) {
    Verdict verdict = null;
    long nanos = Long.MAX_VALUE;
    for (int tries = 0; tries < 3 && nanos > MAX_NANOS; tries++) {
      long before = threads.getCurrentThreadCpuTime();
      verdict = compiled.validate(value, INLINE);
      nanos = threads.getCurrentThreadCpuTime() - before;
    }
    Supplier<String> message = () -> schema + " and " + value;
    assertTrue(nanos <= MAX_NANOS, message);

    Boolean other = other(validator, value);
    if (other != null && !(verdict instanceof Verdict.Unchecked)) {
      compared++;
      fitting += other ? 1 : 0;
      assertEquals(other, verdict.equals(Verdict.FITS), message);
    }
  }

  /** Null if the validator fails. */
  private static Boolean other(Validator validator, JsonNode value) {
    try {
      return validator.validate(vertx(value)).getValid();
    } catch (RuntimeException | StackOverflowError e) {
      return null;
    }
  }

  private static Object vertx(JsonNode value) {
    if (value.isContainerNode()) {
      return value.isObject() ? new JsonObject(value.toString()) : new JsonArray(value.toString());
    }
    return value.isNumber()
        ? (Object) value.intValue()
        : value.isBoolean() ? (Object) value.booleanValue() : value.textValue();
  }

  private static JsonNode root(Random random) {
    ObjectNode root = schema(random, 3);
    ObjectNode definitions = root.putObject("$defs");
    definitions.set("one", schema(random, 3));
    definitions.set("two", schema(random, 2));
    return root;
  }

  private static ObjectNode schema(Random random, int depth) {
    ObjectNode schema = JSON.objectNode();
    if (depth == 0) {
      return leaf(random, schema);
    }
    switch (random.nextInt(10)) {
      case 9 ->
          schema
              .put("unevaluatedProperties", false)
              .set(
                  "anyOf",
                  JSON.arrayNode().add(schema(random, depth - 1)).add(schema(random, depth - 1)));
      case 0 -> schema.put("$ref", random.nextBoolean() ? "#/$defs/one" : "#/$defs/two");
      case 1 -> alternatives(random, depth, schema.putArray("oneOf"));
      case 2 -> alternatives(random, depth, schema.putArray("anyOf"));
      case 3 -> alternatives(random, depth, schema.putArray("allOf"));
      case 4 -> schema.set("not", schema(random, depth - 1));
      case 5 -> array(random, depth, schema);
      case 6 -> leaf(random, schema);
      default -> object(random, depth, schema);
    }
    return schema;
  }

  private static void alternatives(Random random, int depth, ArrayNode list) {
    int count = 1 + random.nextInt(3);
    boolean discriminated = random.nextBoolean();
    for (int i = 0; i < count; i++) {
      ObjectNode alternative = schema(random, depth - 1);
      if (discriminated && !alternative.has("$ref")) {
        ObjectNode properties =
            alternative.get("properties") instanceof ObjectNode existing
                ? existing
                : alternative.putObject("properties");
        properties.putObject("kind").put("const", WORDS.get(i));
      }
      list.add(alternative);
    }
  }

  private static void object(Random random, int depth, ObjectNode schema) {
    if (random.nextInt(3) > 0) {
      schema.put("type", "object");
    }
    ObjectNode properties = schema.putObject("properties");
    for (String name : NAMES) {
      if (random.nextBoolean()) {
        properties.set(name, schema(random, depth - 1));
      }
    }
    if (random.nextInt(3) == 0) {
      schema.putArray("required").add(NAMES.get(random.nextInt(NAMES.size())));
    }
    switch (random.nextInt(6)) {
      case 0 -> schema.put("additionalProperties", false);
      case 1 -> schema.set("additionalProperties", schema(random, depth - 1));
      case 2 -> schema.put("maxProperties", 1 + random.nextInt(3));
      case 3 -> schema.putObject("patternProperties").set("^[ab]$", schema(random, depth - 1));
      case 4 -> schema.putObject("dependentRequired").putArray("a").add("b");
      default -> {}
    }
  }

  private static void array(Random random, int depth, ObjectNode schema) {
    schema.set("items", schema(random, depth - 1));
    switch (random.nextInt(4)) {
      case 0 -> schema.put("minItems", 1);
      case 1 -> schema.put("maxItems", 2);
      case 2 -> schema.put("uniqueItems", true);
      default -> schema.put("type", "array");
    }
  }

  private static ObjectNode leaf(Random random, ObjectNode schema) {
    switch (random.nextInt(8)) {
      case 0 -> schema.put("type", "string");
      case 1 -> schema.put("type", "integer");
      case 2 -> schema.putArray("enum").add(WORDS.get(random.nextInt(WORDS.size()))).add(1);
      case 3 -> schema.put("minLength", 2);
      case 4 -> schema.put("pattern", "^[xyl]");
      case 5 -> schema.put("maximum", 3);
      case 6 -> schema.putArray("type").add("object").add("array").add("string");
      default -> {}
    }
    return schema;
  }

  private static JsonNode value(Random random, int depth) {
    int kind = random.nextInt(depth == 0 ? 3 : 8);
    return switch (kind) {
      case 0 -> JSON.textNode(WORDS.get(random.nextInt(WORDS.size())));
      case 1 -> JSON.numberNode(random.nextInt(6));
      case 2 -> random.nextBoolean() ? JSON.nullNode() : JSON.booleanNode(true);
      case 3 -> {
        ArrayNode array = JSON.arrayNode();
        for (int i = random.nextInt(4); i > 0; i--) {
          array.add(value(random, depth - 1));
        }
        yield array;
      }
      default -> {
        ObjectNode object = JSON.objectNode();
        for (String name : NAMES) {
          if (random.nextInt(3) > 0) {
            object.set(
                name,
                name.equals("kind")
                    ? JSON.textNode(WORDS.get(random.nextInt(3)))
                    : value(random, depth - 1));
          }
        }
        yield object;
      }
    };
  }
}
