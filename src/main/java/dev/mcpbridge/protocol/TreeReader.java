package dev.mcpbridge.protocol;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ContainerNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Makes a tree of what a parser reads, as Jackson's mapper would: without the hundreds of classes
 * that the mapper loads for its first one, and with a look for keys that are there twice that costs
 * nothing. Depth and number of tokens are the parser's to bound.
 */
final class TreeReader {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final JsonParser in;
  private final Decimals decimals;

  /** What numbers with a fraction or an exponent become. */
  enum Decimals {
    /** As near as 64 bits can be (IEEE 754): for what is only compared. */
    DOUBLE,
    /** Every digit, without zeros at the end. */
    SHORTEST,
    /** Every digit: for what is written again. */
    EXACT
  }

  private TreeReader(JsonParser in, Decimals decimals) {
    this.in = in;
    this.decimals = decimals;
  }

  /** The next value; missing where there is none. */
  static JsonNode next(JsonParser in, Decimals decimals) throws IOException {
    JsonToken first = in.nextToken();
    return first == null ? MissingNode.getInstance() : new TreeReader(in, decimals).value(first);
  }

  /** The only value; missing where there is none. */
  static JsonNode only(JsonParser in, Decimals decimals) throws IOException {
    JsonNode value = next(in, decimals);
    if (!value.isMissingNode() && in.nextToken() != null) {
      throw new JsonParseException(in, "There is more after the value");
    }
    return value;
  }

  private JsonNode value(JsonToken token) throws IOException {
    JsonNode value = begun(token);
    if (value instanceof ContainerNode<?> container) {
      fill(container);
    }
    return value;
  }

  /** Without recursion: an event loop's stack is small, and a text may be nested deeply. */
  private void fill(ContainerNode<?> whole) throws IOException {
    Deque<ContainerNode<?>> around = new ArrayDeque<>();
    ContainerNode<?> inner = whole;
    while (inner != null) {
      JsonToken token = in.nextToken();
      if (token.isStructEnd()) {
        inner = around.poll();
        continue;
      }
      JsonNode value = inner instanceof ObjectNode object ? member(object) : element(inner, token);
      if (value instanceof ContainerNode<?> container) {
        around.push(inner);
        inner = container;
      }
    }
  }

  private JsonNode member(ObjectNode object) throws IOException {
    String name = in.currentName();
    JsonNode value = begun(in.nextToken());
    if (object.replace(name, value) != null) {
      throw new JsonParseException(in, "Duplicate field '" + name + "'");
    }
    return value;
  }

  private JsonNode element(ContainerNode<?> array, JsonToken token) throws IOException {
    JsonNode value = begun(token);
    ((ArrayNode) array).add(value);
    return value;
  }

  /** A value, or a container that is still empty. */
  private JsonNode begun(JsonToken token) throws IOException {
    return switch (token) {
      case START_OBJECT -> NODES.objectNode();
      case START_ARRAY -> NODES.arrayNode();
      case VALUE_STRING -> NODES.textNode(in.getText());
      case VALUE_NUMBER_INT -> integer();
      case VALUE_NUMBER_FLOAT -> decimal();
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      case VALUE_NULL -> NODES.nullNode();
      default -> throw new JsonParseException(in, "A value should be here, and not " + token);
    };
  }

  private JsonNode integer() throws IOException {
    return switch (in.getNumberType()) {
      case INT -> NODES.numberNode(in.getIntValue());
      case LONG -> NODES.numberNode(in.getLongValue());
      default -> NODES.numberNode(in.getBigIntegerValue());
    };
  }

  private JsonNode decimal() throws IOException {
    return switch (decimals) {
      case DOUBLE -> NODES.numberNode(in.getDoubleValue());
      case SHORTEST -> NODES.numberNode(shortest(in.getDecimalValue()));
      case EXACT -> NODES.numberNode(in.getDecimalValue());
    };
  }

  /** An exponent at the end of its range leaves no room for zeros fewer. */
  private static BigDecimal shortest(BigDecimal number) {
    try {
      return number.stripTrailingZeros();
    } catch (ArithmeticException e) {
      return number;
    }
  }
}
