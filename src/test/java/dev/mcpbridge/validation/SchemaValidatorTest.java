package dev.mcpbridge.validation;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.validation.SchemaValidator.Subject;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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

  /** An object that records the threads that read it. */
  @SuppressWarnings({"serial", "unchecked"})
  private static final class ObservedObject extends ObjectNode {
    private static final long serialVersionUID = 1L;
    private final transient Set<Thread> readers = ConcurrentHashMap.newKeySet();

    ObservedObject() {
      super(JsonNodeFactory.instance);
    }

    @Override
    public JsonNode get(String name) {
      readers.add(Thread.currentThread());
      return super.get(name);
    }
  }

  private boolean isInline() throws Exception {
    ObservedObject small = new ObservedObject();
    small.put("b", 1);
    Thread[] loop = new Thread[1];
    EventLoops.await(
        vertx,
        () -> {
          loop[0] = Thread.currentThread();
          return validate(small);
        });
    return small.readers.equals(Set.of(loop[0]));
  }

  /** A pause of the machine may move a validation to a worker. */
  private boolean becomesInline() throws Exception {
    boolean isInline = false;
    for (int i = 0; i < 1_000 && !isInline; i++) {
      isInline = isInline();
    }
    return isInline;
  }

  @Test
  void heavyValuesMoveToWorkersUntilTheyAreQuickAgain() throws Exception {
    JsonNode heavy = Json.tree("{\"a\":".repeat(20) + "{}" + "}".repeat(20));
    assertTrue(becomesInline());

    Verdict unchecked = EventLoops.await(vertx, () -> validate(heavy));

    assertInstanceOf(Verdict.Unchecked.class, unchecked);
    assertFalse(isInline());
    assertTrue(becomesInline());
  }
}
