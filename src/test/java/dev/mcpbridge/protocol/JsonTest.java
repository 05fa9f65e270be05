package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares reading and writing of trees with Jackson's mapper. */
class JsonTest {
  private static final ObjectReader SHORTEST = Json.mapper().reader();
  private static final ObjectReader EXACT =
      SHORTEST.without(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES);
  private static final ObjectReader DOUBLES =
      SHORTEST.without(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  /** Makes a text so long that it is read as bytes instead of a string. */
  private static final String LONG_BLANK = " ".repeat(40_000);

  @Provide
  static Arbitrary<String> values() {
    return values(4);
  }

  private static Arbitrary<String> values(int depth) {
    Arbitrary<String> leaves =
        Arbitraries.oneOf(
            Arbitraries.of(
                "null",
                "true",
                "false",
                "0",
                "-0",
                "-0.0",
                "1e400",
                "1E-400",
                "100e2",
                "100e2147483647"),
            Arbitraries.of("2147483648", "-9223372036854775809", "1.10", "10.000", "1e+2", "0.0"),
            Arbitraries.longs().map(String::valueOf),
            Arbitraries.doubles().map(String::valueOf),
            Arbitraries.bigDecimals().ofScale(9).map(String::valueOf),
            Arbitraries.strings().ofMaxLength(8).map(JsonTest::quoted));
    if (depth == 0) {
      return leaves;
    }
    Arbitrary<String> inner = values(depth - 1);
    Arbitrary<String> member =
        Arbitraries.of("a", "b", "c", "", "é", "\\u0061")
            .flatMap(name -> inner.map(value -> "\"" + name + "\" : " + value));
    return Arbitraries.oneOf(
        leaves,
        inner.list().ofMaxSize(4).map(list -> "[" + String.join(" ,", list) + "]"),
        member.list().ofMaxSize(4).map(list -> "{" + String.join(", ", list) + "}"));
  }

  private static String quoted(String text) {
    return new String(
            new JsonWriter().beginArray().value(text).endArray().toSlice().text().substring(1))
        .replaceAll("]$", "");
  }

  /** Reads a text; the outcome is a tree or the kind of error. */
  private interface Reading {
    JsonNode read() throws IOException;

    default Object outcome() {
      try {
        return read();
      } catch (StreamConstraintsException e) {
        return "limit exceeded";
      } catch (JsonProcessingException e) {
        return "invalid";
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void assertSame(Reading expected, Reading actual) {
    Object tree = expected.outcome();
    Object own = actual.outcome();
    assertEquals(tree, own);
    if (tree instanceof JsonNode node && !node.isMissingNode()) {
      assertEquals(node.toString(), Json.slice((JsonNode) own).text());
    }
  }

  private static void assertAllSame(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    assertSame(() -> SHORTEST.readTree(text), () -> Json.tree(text));
    assertSame(() -> SHORTEST.readTree(bytes), () -> Json.tree(bytes));
    assertSame(() -> EXACT.readTree(text), () -> Json.exactTree(text));
    assertSame(() -> EXACT.readTree(bytes), () -> Json.exactTree(bytes));
    assertSame(
        () -> DOUBLES.readTree(bytes), () -> Json.tree(new JsonSlice(bytes, 0, bytes.length)));
    byte[] longer = (LONG_BLANK + text).getBytes(StandardCharsets.UTF_8);
    assertSame(
        () -> DOUBLES.readTree(bytes), () -> Json.tree(new JsonSlice(longer, 0, longer.length)));
  }

  @Property(tries = 2000)
  void validJsonIsReadAsByTheMapper(@ForAll("values") String text) {
    assertAllSame(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "[",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "]",
        "}",
        ",",
        "nul",
        "1.",
        "-",
        "01",
        "\"",
        "\"\\x\"",
        "\"\u0001\"",
        "{1:2}",
        "[1 2]",
        "NaN",
        "'a'",
        "{\"a\":1,\"a\":1}",
        "[{\"b\":{},\"c\":0,\"b\":null}]",
        "{\"a\":1,\"\\u0061\":2}"
      })
  void invalidJsonFailsAsInTheMapper(String text) {
    assertAllSame(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1 2", "{} {}", "[]]", "{}x", "\"a\",", "true false"})
  void textAfterTheValueIsRejected(String text) {
    assertThrows(JsonProcessingException.class, () -> Json.tree(text));
    assertThrows(JsonProcessingException.class, () -> Json.exactTree(text));
  }

  @Test
  void duplicateKeyIsReportedWithItsLocation() {
    JsonProcessingException failure =
        assertThrows(
            JsonProcessingException.class, () -> Json.tree("{\n \"a\": 1,\n \"a\": null\n}"));

    assertEquals("Duplicate field 'a'", failure.getOriginalMessage());
    assertEquals(3, failure.getLocation().getLineNr());
  }

  @Test
  void depthIsBounded() throws IOException {
    assertTrue(Json.tree("[".repeat(1000) + "]".repeat(1000)).isArray());
    assertAllSame("[".repeat(1000) + "]".repeat(1000));
    assertAllSame("[".repeat(1001) + "]".repeat(1001));
    assertThrows(
        StreamConstraintsException.class, () -> Json.tree("[".repeat(1001) + "]".repeat(1001)));
  }

  @Test
  void missingNodeIsWrittenAsNull() throws IOException {
    assertEquals("null", Json.slice(Json.tree("")).text());
    ObjectNode object = Json.object().set("a", MissingNode.getInstance());
    assertEquals("{\"a\":null}", Json.slice(object).text());
  }

  @Test
  void deepTextNeedsLittleStack() throws Exception {
    Throwable[] failure = {null};
    Thread small =
        new Thread(
            null,
            () -> {
              try {
                Json.slice(Json.tree("[{\"a\":".repeat(500) + "1" + "}]".repeat(500)));
              } catch (Throwable e) {
                failure[0] = e;
              }
            },
            "small",
            384 << 10);

    small.start();
    small.join();

    assertNull(failure[0]);
  }

  @Test
  void theNumberOfTokensIsBounded() {
    String many = "[" + "0,".repeat(1_000_000) + "0]";

    assertThrows(StreamConstraintsException.class, () -> Json.tree(many));
  }

  @Test
  void exponentOutOfRangeIsAnErrorOfTheText() {
    String text = "{\"a\":2e99999999999999999999}";

    assertThrows(JsonProcessingException.class, () -> Json.tree(text));
    assertThrows(JsonProcessingException.class, () -> Json.exactTree(JsonSlice.of(text)));
    assertThrows(
        JsonProcessingException.class, () -> Json.tree(text.getBytes(StandardCharsets.UTF_8)));
  }
}
