package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.function.IntPredicate;

/** Escapes in JSON strings (RFC 8259 section 7). Stateless. */
public final class JsonEscapes {
  private static final String ESCAPED = "\"\\/bfnrt";
  private static final String DECODED = "\"\\/\b\f\n\r\t";

  private JsonEscapes() {}

  /** Decodes the text between the quotes; null if it contains an invalid escape. */
  static String read(byte[] text, int from, int to) {
    StringBuilder out = new StringBuilder(to - from);
    int plain = from;
    for (int at = from; at < to; at++) {
      if (text[at] == '\\') {
        out.append(new String(text, plain, at - plain, StandardCharsets.UTF_8));
        int length = append(out, text, at + 1, to);
        if (length < 0) {
          return null;
        }
        at += length;
        plain = at + 1;
      }
    }
    return out.append(new String(text, plain, to - plain, StandardCharsets.UTF_8)).toString();
  }

  /** Returns the length of the escape after the backslash; −1 if it is invalid. */
  private static int append(StringBuilder out, byte[] text, int at, int to) {
    if (at < to && text[at] == 'u') {
      return unit(out, text, at + 1, to);
    }
    int index = at < to ? ESCAPED.indexOf(text[at]) : -1;
    if (index < 0) {
      return -1;
    }
    out.append(DECODED.charAt(index));
    return 1;
  }

  private static int unit(StringBuilder out, byte[] text, int from, int to) {
    int unit = 0;
    for (int i = from; i < from + 4; i++) {
      int digit = i < to ? Character.digit(text[i], 16) : -1;
      if (digit < 0) {
        return -1;
      }
      unit = unit << 4 | digit;
    }
    out.append((char) unit);
    return 5;
  }

  /** A JSON text in which some characters, which occur in its strings only, are escaped. */
  public static String escaped(String json, IntPredicate isEscaped) {
    StringBuilder out = new StringBuilder(json.length());
    json.codePoints()
        .forEach(
            c -> {
              if (isEscaped.test(c)) {
                Character.toString(c).chars().forEach(u -> out.append("\\u%04X".formatted(u)));
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  /** Whether a code point is half of a surrogate pair, which cannot be encoded. */
  public static boolean isLoneSurrogate(int codePoint) {
    return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
  }
}
