package dev.mcpbridge.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/**
 * The one Jackson mapper: trees for what the bridge has to understand. Duplicate keys and text
 * after the value are refused; decimals keep every digit. Names are not kept in a table that all
 * requests share, since one request could fill it for the others. Thread-safe.
 */
public final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                  .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(1000)
                          .maxTokenCount(1_000_000)
                          .maxStringLength(64 << 20)
                          .maxNumberLength(1000)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private static final ObjectReader SCANNED =
      MAPPER
          .reader()
          .without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .without(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private static final ObjectReader WHOLE =
      MAPPER.reader().without(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES);

  private static final ObjectReader EXACT =
      WHOLE.without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private Json() {}

  public static ObjectMapper mapper() {
    return MAPPER;
  }

  /** A tree of a value that was already scanned; fails on duplicate keys and on the limits. */
  public static JsonNode tree(JsonSlice slice) throws IOException {
    return SCANNED.readTree(slice.bytes(), slice.from(), slice.length());
  }

  /** A tree whose numbers keep every digit, trailing zeros too, for what is written again. */
  public static JsonNode exactTree(JsonSlice slice) throws IOException {
    return EXACT.readTree(slice.bytes(), slice.from(), slice.length());
  }

  /** The same of a text that is nothing but one value, and was not looked at before. */
  public static JsonNode exactTree(String text) throws JsonProcessingException {
    return WHOLE.readTree(text);
  }

  /** The same of a text in UTF-8. */
  public static JsonNode exactTree(byte[] text) throws IOException {
    return WHOLE.readTree(text);
  }

  public static JsonSlice slice(JsonNode node) {
    try {
      return JsonSlice.of(MAPPER.writeValueAsBytes(node));
    } catch (IOException e) {
      throw new IllegalStateException("a tree always serialises", e);
    }
  }
}
