package dev.mcpbridge.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * Characters that people do not see and models read, or that change what people see: controls and
 * escapes, marks of writing direction (Unicode 9, "Trojan Source"), tags and variation selectors
 * that can spell a hidden text, and what has no width. Those that scripts and emoji need (joiners,
 * variation selectors 1 to 16) are none of them. Stateless.
 */
public final class HiddenCharacters {
  private HiddenCharacters() {}

  /** Whether it is one. */
  public static boolean isHidden(int codePoint) {
    return Character.isISOControl(codePoint)
            && codePoint != '\t'
            && codePoint != '\n'
            && codePoint != '\r'
        || codePoint == 0x061C
        || codePoint == 0x200B
        || codePoint == 0x200E
        || codePoint == 0x200F
        || codePoint >= 0x202A && codePoint <= 0x202E
        || codePoint >= 0x2060 && codePoint <= 0x206F
        || codePoint == 0xFEFF
        || codePoint >= 0xE0000 && codePoint <= 0xE01EF;
  }

  /** Those in the names and texts of a JSON value, in ascending order; takes one pass over it. */
  public static Set<Integer> in(JsonSlice json) {
    Set<Integer> found = new TreeSet<>();
    String decoded = mayHold(json) ? JsonEscapes.read(json.bytes(), json.from(), json.to()) : null;
    if (decoded != null) {
      decoded.codePoints().filter(HiddenCharacters::isHidden).forEach(found::add);
    }
    return found;
  }

  /** A text as people may see it: each of them is spelt out, as in {@code \\u{202E}}. */
  public static String shown(String text) {
    if (text.codePoints().noneMatch(HiddenCharacters::isHidden)) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(
            c -> {
              if (isHidden(c)) {
                out.append("\\u{")
                    .append(Integer.toHexString(c).toUpperCase(Locale.ROOT))
                    .append('}');
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  /**
   * A JSON object without them.
   *
   * @param kept the names of members that stay as they are, since something is called by them
   */
  public static JsonSlice removed(JsonSlice object, Set<String> kept) throws IOException {
    if (in(object).isEmpty()) {
      return object;
    }
    ObjectNode clean = JsonNodeFactory.instance.objectNode();
    Json.exactTree(object)
        .properties()
        .forEach(
            member ->
                clean.set(
                    without(member.getKey()),
                    kept.contains(member.getKey()) ? member.getValue() : clean(member.getValue())));
    return Json.slice(clean);
  }

  /** A text of ASCII without escapes by number has none. */
  private static boolean mayHold(JsonSlice json) {
    byte[] bytes = json.bytes();
    for (int i = json.from(); i < json.to(); i++) {
      if (bytes[i] < 0 || bytes[i] == '\\' || bytes[i] == 0x7F) {
        return true;
      }
    }
    return false;
  }

  private static JsonNode clean(JsonNode node) {
    if (node.isTextual()) {
      return JsonNodeFactory.instance.textNode(without(node.textValue()));
    }
    if (node.isArray()) {
      ArrayNode items = JsonNodeFactory.instance.arrayNode();
      node.forEach(item -> items.add(clean(item)));
      return items;
    }
    if (node.isObject()) {
      ObjectNode members = JsonNodeFactory.instance.objectNode();
      node.properties()
          .forEach(member -> members.set(without(member.getKey()), clean(member.getValue())));
      return members;
    }
    return node;
  }

  private static String without(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().filter(c -> !isHidden(c)).forEach(out::appendCodePoint);
    return out.toString();
  }
}
