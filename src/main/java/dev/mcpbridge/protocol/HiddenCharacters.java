package dev.mcpbridge.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * Characters that are invisible to people but not to models, or that change how text is displayed:
 * control characters, bidirectional formatting (Unicode 9, "Trojan Source"), tags and variation
 * selectors that can encode hidden text, and characters without a width or a glyph. What scripts
 * and emoji need (joiners, variation selectors 1 to 16) is not hidden, only invisible. Stateless.
 */
public final class HiddenCharacters {
  private HiddenCharacters() {}

  public static boolean isHidden(int codePoint) {
    return Character.isISOControl(codePoint)
            && codePoint != '\t'
            && codePoint != '\n'
            && codePoint != '\r'
        || codePoint == 0x061C
        || codePoint == 0x200B
        || codePoint == 0x200E
        || codePoint == 0x200F
        || codePoint >= 0x2028 && codePoint <= 0x202E
        || codePoint >= 0x2060 && codePoint <= 0x206F
        || codePoint == 0xFEFF
        || codePoint >= 0xFFF9 && codePoint <= 0xFFFB
        || codePoint >= 0x1BCA0 && codePoint <= 0x1BCA3
        || codePoint >= 0x1D173 && codePoint <= 0x1D17A
        || codePoint >= 0xE0000 && codePoint <= 0xE0FFF
        || isBlank(codePoint);
  }

  /** Blank letters and symbols, and marks that are never seen. */
  private static boolean isBlank(int codePoint) {
    return switch (codePoint) {
      case 0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFFA0 -> true;
      default -> false;
    };
  }

  /** Whether a text looks the same without it: hidden, or needed only by scripts and emoji. */
  private static boolean isInvisible(int codePoint) {
    return isHidden(codePoint)
        || Character.getType(codePoint) == Character.FORMAT
        || codePoint >= 0x180B && codePoint <= 0x180F
        || codePoint >= 0xFE00 && codePoint <= 0xFE0F;
  }

  /** The hidden code points in the names and strings of a JSON value, ascending; one pass. */
  public static Set<Integer> in(JsonSlice json) {
    Set<Integer> found = new TreeSet<>();
    String decoded =
        mayContainHidden(json) ? JsonEscapes.read(json.bytes(), json.from(), json.to()) : null;
    if (decoded != null) {
      decoded.codePoints().filter(HiddenCharacters::isHidden).forEach(found::add);
    }
    return found;
  }

  /** The text with each hidden character escaped, as in {@code \\u{202E}}. */
  public static String escaped(String text) {
    return escaped(text, HiddenCharacters::isHidden);
  }

  /** The text with each character escaped that cannot be seen, also those that emoji need. */
  public static String visible(String text) {
    return escaped(text, HiddenCharacters::isInvisible);
  }

  private static String escaped(String text, IntPredicate isEscaped) {
    if (text.codePoints().noneMatch(isEscaped)) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(
            c -> {
              if (isEscaped.test(c)) {
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
   * A JSON object without hidden characters.
   *
   * @param verbatim names of members whose values are identifiers and stay unchanged
   */
  public static JsonSlice withoutHidden(JsonSlice object, Set<String> verbatim) throws IOException {
    if (in(object).isEmpty()) {
      return object;
    }
    ObjectNode clean = JsonNodeFactory.instance.objectNode();
    Json.exactTree(object)
        .properties()
        .forEach(
            member ->
                clean.set(
                    stripped(member.getKey()),
                    verbatim.contains(member.getKey())
                        ? member.getValue()
                        : clean(member.getValue())));
    return Json.slice(clean);
  }

  /** False for ASCII text without escapes and DEL, which cannot contain hidden characters. */
  private static boolean mayContainHidden(JsonSlice json) {
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
      return JsonNodeFactory.instance.textNode(stripped(node.textValue()));
    }
    if (node.isArray()) {
      ArrayNode items = JsonNodeFactory.instance.arrayNode();
      node.forEach(item -> items.add(clean(item)));
      return items;
    }
    if (node.isObject()) {
      ObjectNode members = JsonNodeFactory.instance.objectNode();
      node.properties()
          .forEach(member -> members.set(stripped(member.getKey()), clean(member.getValue())));
      return members;
    }
    return node;
  }

  private static String stripped(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().filter(c -> !isHidden(c)).forEach(out::appendCodePoint);
    return out.toString();
  }
}
