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
 * Jackson as the bridge uses it: trees for what it has to understand. Duplicate keys and text after
 * the value are refused; decimals keep every digit. Names are not kept in a table that all requests
 * share, since one request could fill it for the others. Thread-safe.
 */
public final class Json {
  private static final JsonFactory TOKENS = tokens().build();
  private static final int SHORT = 32 * 1024;

  private Json() {}

  /** The mapper, for objects that are no trees and for layouts; loads hundreds of classes. */
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

  /** An object to be filled. */
  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** A tree of a text that is nothing but one value; decimals without zeros at the end. */
  public static JsonNode tree(String text) throws JsonProcessingException {
    return only(text, TreeReader.Decimals.SHORTEST);
  }

  /** The same of a text in UTF-8. */
  public static JsonNode tree(byte[] text) throws IOException {
    return only(text, TreeReader.Decimals.SHORTEST);
  }

  /** A tree of a value that was already scanned; fails on duplicate keys and on the limits. */
  public static JsonNode tree(JsonSlice slice) throws IOException {
    return next(slice, TreeReader.Decimals.DOUBLE);
  }

  /** A tree whose numbers keep every digit, trailing zeros too, for what is written again. */
  public static JsonNode exactTree(JsonSlice slice) throws IOException {
    return next(slice, TreeReader.Decimals.EXACT);
  }

  /** The same of a text that is nothing but one value, and was not looked at before. */
  public static JsonNode exactTree(String text) throws JsonProcessingException {
    return only(text, TreeReader.Decimals.EXACT);
  }

  /** The same of a text in UTF-8. */
  public static JsonNode exactTree(byte[] text) throws IOException {
    return only(text, TreeReader.Decimals.EXACT);
  }

  private static JsonNode next(JsonSlice slice, TreeReader.Decimals decimals) throws IOException {
    try (JsonParser parser = tokens(slice)) {
      return TreeReader.next(parser, decimals);
    }
  }

  /** Of bytes, without a shared table of names, Jackson makes a stream with a buffer of 8 KiB. */
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
