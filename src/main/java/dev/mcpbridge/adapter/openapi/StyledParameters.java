package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Serialises values for URLs, headers, cookies and forms (OpenAPI 3.1 section 4.8.12, Style Values;
 * RFC 6570). Numbers keep their digits. Stateless.
 */
final class StyledParameters {
  private StyledParameters() {}

  /**
   * A name and its values, to be joined with the delimiter. Name and values still have to be
   * encoded; the delimiter is encoded already.
   */
  record Pair(String name, List<String> values, String delimiter) {
    static Pair of(String name, String value) {
      return new Pair(name, List.of(value), "");
    }

    /** The joined values with a decoded delimiter, for callers that encode the whole text. */
    String joined() {
      return String.join(URLDecoder.decode(delimiter, StandardCharsets.UTF_8), values);
    }
  }

  /** The styles of queries, cookies and forms: form, spaceDelimited, pipeDelimited, deepObject. */
  static List<Pair> of(String name, JsonSlice value, String style, boolean explode) {
    if (style.equals("deepObject")) {
      List<Pair> pairs = new ArrayList<>();
      deep(name, value, pairs);
      return pairs;
    }
    if (value.isObject() && explode) {
      return JsonObjects.members(value).entrySet().stream()
          .map(each -> Pair.of(each.getKey(), text(each.getValue())))
          .toList();
    }
    return explode
        ? texts(value).map(each -> Pair.of(name, each)).toList()
        : List.of(new Pair(name, texts(value).toList(), delimiter(style)));
  }

  private static String delimiter(String style) {
    return switch (style) {
      case "spaceDelimited" -> "%20";
      case "pipeDelimited" -> "%7C";
      default -> ",";
    };
  }

  private static void deep(String name, JsonSlice value, List<Pair> pairs) {
    if (value.isObject()) {
      JsonObjects.members(value)
          .forEach((member, inner) -> deep(name + "[" + member + "]", inner, pairs));
    } else if (value.isArray()) {
      JsonObjects.elements(value).forEach(element -> deep(name, element, pairs));
    } else {
      pairs.add(Pair.of(name, text(value)));
    }
  }

  /**
   * The styles that do not contain the name: simple and label, for paths and headers.
   *
   * @param encoding applied to each key and value
   */
  static String unnamed(
      JsonSlice value, boolean explode, String delimiter, UnaryOperator<String> encoding) {
    if (value.isObject() && explode) {
      return JsonObjects.members(value).entrySet().stream()
          .map(each -> encoding.apply(each.getKey()) + "=" + encoding.apply(text(each.getValue())))
          .collect(Collectors.joining(delimiter));
    }
    return texts(value).map(encoding).collect(Collectors.joining(delimiter));
  }

  /** The texts of all elements, or of all keys and values, or of the value itself. */
  private static Stream<String> texts(JsonSlice value) {
    if (value.isArray()) {
      return JsonObjects.elements(value).stream().map(StyledParameters::text);
    }
    return value.isObject()
        ? JsonObjects.members(value).entrySet().stream()
            .flatMap(each -> Stream.of(each.getKey(), text(each.getValue())))
        : Stream.of(text(value));
  }

  /** The text of an array element or object member; nested objects and arrays are JSON text. */
  static String text(JsonSlice value) {
    String text = JsonObjects.string(value);
    return text != null ? text : JsonSlice.NULL.equals(value) ? "" : value.text();
  }
}
