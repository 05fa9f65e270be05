package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.snakeyaml.engine.v2.api.ConstructNode;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/**
 * Parses a document from JSON or YAML 1.2 (OpenAPI 3.1 section 4.2), with limits on everything that
 * could make a small text expand. Nothing in it is executed, instantiated or fetched.
 */
final class DocumentReader {
  private static final int MAX_NODES = 3_000_000;
  private static final int MAX_DEPTH = 200;
  private static final int MAX_ALIASES = 50;
  private static final int MAX_CHARACTERS = 32 << 20;

  /** In characters. The parser copies a long scalar each time a buffer is filled. */
  private static final int BUFFER = 1 << 16;

  private static final ObjectMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MAX_DEPTH)
                          .maxTokenCount(10_000_000)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private int nodes;

  private DocumentReader() {}

  /**
   * @throws BridgeException START_FAILED with the error and its location
   */
  static ObjectNode read(byte[] text) {
    JsonNode tree = startsLikeJson(text) ? json(text) : new DocumentReader().yaml(text);
    if (tree instanceof ObjectNode document) {
      return document;
    }
    throw unusable("it is not an object");
  }

  private static boolean startsLikeJson(byte[] text) {
    for (byte b : text) {
      if (b > ' ') {
        return b == '{';
      }
    }
    throw unusable("it is empty");
  }

  private static JsonNode json(byte[] text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      String at =
          e.getLocation() == null
              ? ""
              : " at line "
                  + e.getLocation().getLineNr()
                  + ", column "
                  + e.getLocation().getColumnNr();
      throw unusable("it is not JSON: " + e.getOriginalMessage() + at);
    } catch (IOException | NumberFormatException e) {
      throw unusable("it is not JSON: " + e.getMessage());
    }
  }

  private JsonNode yaml(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    LoadSettings settings =
        LoadSettings.builder()
            .setSchema(new ShortNumbers())
            .setMaxAliasesForCollections(MAX_ALIASES)
            .setCodePointLimit(MAX_CHARACTERS)
            .setBufferSize(BUFFER)
            .setAllowDuplicateKeys(false)
            .setAllowRecursiveKeys(false)
            .build();
    try {
      return tree(new Load(settings).loadFromString(text), 0);
    } catch (YamlEngineException e) {
      throw unusable("it is neither JSON nor YAML: " + firstLines(e.getMessage()));
    } catch (StackOverflowError e) {
      throw unusable("it is nested too deeply");
    }
  }

  /** Limits digits, because parsing a number takes quadratic time; same limit as for JSON. */
  private static final class ShortNumbers extends CoreSchema {
    private static final int MAX_DIGITS = StreamReadConstraints.DEFAULT_MAX_NUM_LEN;

    @Override
    public Map<Tag, ConstructNode> getSchemaTagConstructors() {
      Map<Tag, ConstructNode> all = new HashMap<>(super.getSchemaTagConstructors());
      ConstructNode integers = all.get(Tag.INT);
      all.put(
          Tag.INT,
          node -> {
            if (((ScalarNode) node).getValue().length() > MAX_DIGITS) {
              throw unusable("it contains a number of more than " + MAX_DIGITS + " digits");
            }
            return integers.construct(node);
          });
      return all;
    }
  }

  private JsonNode tree(Object value, int depth) {
    if (depth > MAX_DEPTH || ++nodes > MAX_NODES) {
      throw unusable("it is nested too deeply or too large, possibly because of aliases");
    }
    JsonNodeFactory node = JsonNodeFactory.instance;
    if (value instanceof Map<?, ?> map) {
      ObjectNode object = node.objectNode();
      map.forEach((name, member) -> object.set(String.valueOf(name), tree(member, depth + 1)));
      return object;
    }
    if (value instanceof Iterable<?> list) {
      ArrayNode array = node.arrayNode();
      list.forEach(element -> array.add(tree(element, depth + 1)));
      return array;
    }
    if (value instanceof Boolean truth) {
      return node.booleanNode(truth);
    }
    if (value instanceof Number number) {
      return number(number);
    }
    return value == null ? node.nullNode() : node.textNode(String.valueOf(value));
  }

  private static JsonNode number(Number number) {
    JsonNodeFactory node = JsonNodeFactory.instance;
    if (number instanceof Double d) {
      return Double.isFinite(d) ? node.numberNode(BigDecimal.valueOf(d)) : node.nullNode();
    }
    return number instanceof BigInteger big
        ? node.numberNode(big)
        : node.numberNode(number.longValue());
  }

  private static String firstLines(String message) {
    return message.lines().limit(3).map(String::strip).reduce((a, b) -> a + " " + b).orElse("");
  }

  static BridgeException unusable(String reason) {
    return new BridgeException(
        ErrorCode.START_FAILED, "The OpenAPI document cannot be used: " + reason);
  }
}
