package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
    if (value.isArray()) {
      Stream<String> all = JsonObjects.elements(value).stream().map(StyledParameters::text);
      return explode
          ? all.map(each -> Pair.of(name, each)).toList()
          : List.of(new Pair(name, all.toList(), delimiter(style)));
    }
    if (value.isObject()) {
      Map<String, JsonSlice> members = JsonObjects.members(value);
      return explode
          ? members.entrySet().stream()
              .map(each -> Pair.of(each.getKey(), text(each.getValue())))
              .toList()
          : List.of(new Pair(name, flat(members), delimiter(style)));
    }
    return List.of(Pair.of(name, text(value)));
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

  static List<String> flat(Map<String, JsonSlice> members) {
    return members.entrySet().stream()
        .flatMap(each -> Stream.of(each.getKey(), text(each.getValue())))
        .toList();
  }

  /** The style {@code simple}, for headers. */
  static String simple(JsonSlice value, boolean explode) {
    if (value.isArray()) {
      return JsonObjects.elements(value).stream()
          .map(StyledParameters::text)
          .collect(Collectors.joining(","));
    }
    if (value.isObject()) {
      Map<String, JsonSlice> members = JsonObjects.members(value);
      return explode
          ? members.entrySet().stream()
              .map(each -> each.getKey() + "=" + text(each.getValue()))
              .collect(Collectors.joining(","))
          : String.join(",", flat(members));
    }
    return text(value);
  }

  /** The text of an array element or object member; nested objects and arrays are JSON text. */
  static String text(JsonSlice value) {
    String text = JsonObjects.string(value);
    return text != null ? text : JsonSlice.NULL.equals(value) ? "" : value.text();
  }
}
