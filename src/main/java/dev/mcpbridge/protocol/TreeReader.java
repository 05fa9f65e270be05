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
 * Builds a tree from a parser as Jackson's mapper would, but without loading the mapper's hundreds
 * of classes, and with a check for duplicate keys at no extra cost. The parser limits the depth and
 * the number of tokens.
 */
final class TreeReader {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final JsonParser in;
  private final Decimals decimals;

  /** The representation of numbers with a fraction or an exponent. */
  enum Decimals {
    /** The nearest IEEE 754 double: for values that are only compared. */
    DOUBLE,
    /** Every digit, without trailing zeros. */
    SHORTEST,
    /** Every digit: for values that are written again. */
    EXACT
  }

  private TreeReader(JsonParser in, Decimals decimals) {
    this.in = in;
    this.decimals = decimals;
  }

  /** The next value; a missing node at the end of the input. */
  static JsonNode next(JsonParser in, Decimals decimals) throws IOException {
    JsonToken first = in.nextToken();
    return first == null ? MissingNode.getInstance() : new TreeReader(in, decimals).value(first);
  }

  /** The only value; a missing node for empty input. */
  static JsonNode only(JsonParser in, Decimals decimals) throws IOException {
    JsonNode value = next(in, decimals);
    if (!value.isMissingNode() && in.nextToken() != null) {
      throw new JsonParseException(in, "unexpected text after the value");
    }
    return value;
  }

  private JsonNode value(JsonToken token) throws IOException {
    JsonNode value = startValue(token);
    if (value instanceof ContainerNode<?> container) {
      fill(container);
    }
    return value;
  }

  /** Not recursive: an event loop's stack is small, and the input may be nested deeply. */
  private void fill(ContainerNode<?> outermost) throws IOException {
    Deque<ContainerNode<?>> enclosing = new ArrayDeque<>();
    ContainerNode<?> current = outermost;
    while (current != null) {
      JsonToken token = in.nextToken();
      if (token.isStructEnd()) {
        current = enclosing.poll();
        continue;
      }
      JsonNode value =
          current instanceof ObjectNode object ? member(object) : element(current, token);
      if (value instanceof ContainerNode<?> container) {
        enclosing.push(current);
        current = container;
      }
    }
  }

  private JsonNode member(ObjectNode object) throws IOException {
    String name = in.currentName();
    JsonNode value = startValue(in.nextToken());
    if (object.replace(name, value) != null) {
      throw new JsonParseException(in, "Duplicate field '" + name + "'");
    }
    return value;
  }

  private JsonNode element(ContainerNode<?> array, JsonToken token) throws IOException {
    JsonNode value = startValue(token);
    ((ArrayNode) array).add(value);
    return value;
  }

  /** A value, or a container that is still empty. */
  private JsonNode startValue(JsonToken token) throws IOException {
    return switch (token) {
      case START_OBJECT -> NODES.objectNode();
      case START_ARRAY -> NODES.arrayNode();
      case VALUE_STRING -> NODES.textNode(in.getText());
      case VALUE_NUMBER_INT -> integer();
      case VALUE_NUMBER_FLOAT -> decimal();
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      case VALUE_NULL -> NODES.nullNode();
      default -> throw new JsonParseException(in, "expected a value, found " + token);
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
      case SHORTEST -> NODES.numberNode(shortest(exact()));
      case EXACT -> NODES.numberNode(exact());
    };
  }

  /** An exponent beyond those of BigDecimal is an error of the text. */
  private BigDecimal exact() throws IOException {
    try {
      return in.getDecimalValue();
    } catch (NumberFormatException e) {
      throw new JsonParseException(in, "the exponent of a number is out of range");
    }
  }

  /** Unchanged if the exponent without trailing zeros would be out of range. */
  private static BigDecimal shortest(BigDecimal number) {
    try {
      return number.stripTrailingZeros();
    } catch (ArithmeticException e) {
      return number;
    }
  }
}
