package dev.mcpbridge.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/**
 * The bridge's Jackson configuration, for values that it needs as trees. Duplicate keys and text
 * after the value are rejected; decimals keep every digit. Field names are not cached in a table
 * shared by all requests, because a single request could fill it. Thread-safe.
 */
public final class Json {
  private static final JsonFactory TOKENS = tokens().build();
  private static final int SHORT = 32 * 1024;

  private Json() {}

  /** The mapper, for data binding and formatted output; loading it loads hundreds of classes. */
  private static final class Mapper {
    static final ObjectMapper ONE =
        JsonMapper.builder(tokens().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();
  }

  private static JsonFactoryBuilder tokens() {
    return new JsonFactoryBuilder()
        .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
        .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(1000)
                .maxTokenCount(1_000_000)
                .maxStringLength(64 << 20)
                .maxNumberLength(1000)
                .build());
  }

  public static ObjectMapper mapper() {
    return Mapper.ONE;
  }

  /** A new, empty object. */
  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Parses a text with exactly one value; decimals lose their trailing zeros. */
  public static JsonNode tree(String text) throws JsonProcessingException {
    return only(text, TreeReader.Decimals.SHORTEST);
  }

  /** Parses a text that the bridge has written itself. */
  public static JsonNode parsed(String own) {
    try {
      return tree(own);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("not JSON", e);
    }
  }

  /** Like {@link #tree(String)}, for UTF-8. */
  public static JsonNode tree(byte[] text) throws IOException {
    return only(text, TreeReader.Decimals.SHORTEST);
  }

  /** Parses a value that was scanned before; fails on duplicate keys and exceeded limits. */
  public static JsonNode tree(JsonSlice slice) throws IOException {
    return next(slice, TreeReader.Decimals.DOUBLE);
  }

  /** A tree whose numbers keep every digit, including trailing zeros, for writing it again. */
  public static JsonNode exactTree(JsonSlice slice) throws IOException {
    return next(slice, TreeReader.Decimals.EXACT);
  }

  /** Like {@link #exactTree(JsonSlice)}, for an unchecked text with exactly one value. */
  public static JsonNode exactTree(String text) throws JsonProcessingException {
    return only(text, TreeReader.Decimals.EXACT);
  }

  /** Like {@link #exactTree(String)}, for UTF-8. */
  public static JsonNode exactTree(byte[] text) throws IOException {
    return only(text, TreeReader.Decimals.EXACT);
  }

  private static JsonNode next(JsonSlice slice, TreeReader.Decimals decimals) throws IOException {
    try (JsonParser parser = tokens(slice)) {
      return TreeReader.next(parser, decimals);
    }
  }

  /** Without a shared name table, Jackson reads bytes through a stream with an 8 KiB buffer. */
  private static JsonParser tokens(JsonSlice slice) throws IOException {
    return slice.length() <= SHORT
        ? TOKENS.createParser(slice.text())
        : TOKENS.createParser(slice.bytes(), slice.from(), slice.length());
  }

  private static JsonNode only(byte[] text, TreeReader.Decimals decimals) throws IOException {
    try (JsonParser parser = TOKENS.createParser(text)) {
      return TreeReader.only(parser, decimals);
    }
  }

  private static JsonNode only(String text, TreeReader.Decimals decimals)
      throws JsonProcessingException {
    try (JsonParser parser = TOKENS.createParser(text)) {
      return TreeReader.only(parser, decimals);
    } catch (JsonProcessingException e) {
      throw e;
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }

  public static JsonSlice slice(JsonNode node) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    try (JsonGenerator generator = TOKENS.createGenerator(out)) {
      TreeWriter.write(node, generator);
    } catch (IOException e) {
      throw new IllegalStateException("a tree always serialises", e);
    }
    return JsonSlice.of(out.toByteArray());
  }
}
