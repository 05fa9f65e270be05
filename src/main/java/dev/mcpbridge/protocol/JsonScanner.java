package dev.mcpbridge.protocol;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A validating scanner for JSON (RFC 8259) over bytes. It allocates no tree and only reports where
 * values end or why they are invalid. UTF-8 is validated as RFC 3629 requires (no overlong forms,
 * no surrogates).
 *
 * <p>There are two modes: <em>transit</em> for upstream messages checks grammar, UTF-8 and depth;
 * <em>strict</em> for callers' input also rejects lone surrogate escapes, very long numbers and
 * numbers outside the range of a double, because receivers disagree on them.
 *
 * <p>Not thread-safe: it holds state during a scan.
 */
public final class JsonScanner {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;
  private static final int MAX_STRICT_NUMBER = 1000;

  private final int maxDepth;
  private final boolean strict;
  private byte[] json;
  private int end;
  private boolean sawWhitespace;

  private JsonScanner(int maxDepth, boolean strict) {
    this.maxDepth = maxDepth;
    this.strict = strict;
  }

  public static JsonScanner transit(int maxDepth) {
    return new JsonScanner(maxDepth, false);
  }

  public static JsonScanner strict(int maxDepth) {
    return new JsonScanner(maxDepth, true);
  }

  /** Receives the members of an object as offsets into the text; names without their quotes. */
  @FunctionalInterface
  public interface MemberVisitor {
    void member(int nameFrom, int nameTo, int valueFrom, int valueTo);

    /** The visitor for the members of this member's value if it is an object; null for none. */
    default MemberVisitor inside(int nameFrom, int nameTo) {
      return null;
    }
  }

  /** Checks that the text is exactly one JSON value, optionally surrounded by whitespace. */
  public JsonSlice document(byte[] text, int from, int to) throws JsonSyntaxException {
    begin(text, to);
    int start = skipBlanks(from);
    int stop = value(start, 0, null);
    requireEnd(stop);
    return new JsonSlice(text, start, stop);
  }

  /** Checks that the text is exactly one object and visits its members in order. */
  public void object(byte[] text, int from, int to, MemberVisitor visitor)
      throws JsonSyntaxException {
    begin(text, to);
    int at = skipBlanks(from);
    if (at >= end || text[at] != '{') {
      throw error("expected an object", at);
    }
    requireEnd(members(at, 1, visitor));
  }

  /** Receives the elements of an array as offsets into the text. */
  @FunctionalInterface
  public interface ElementVisitor {
    void element(int from, int to);
  }

  /** Checks that the text is exactly one array and visits its elements in order. */
  public void array(byte[] text, int from, int to, ElementVisitor visitor)
      throws JsonSyntaxException {
    begin(text, to);
    int at = skipBlanks(from);
    if (at >= end || text[at] != '[') {
      throw error("expected an array", at);
    }
    requireEnd(elements(at, 1, visitor));
  }

  /** Whether the last scan found whitespace between tokens; otherwise the text is compact. */
  public boolean sawWhitespace() {
    return sawWhitespace;
  }

  private void begin(byte[] text, int to) {
    json = text;
    end = to;
    sawWhitespace = false;
  }

  private void requireEnd(int at) throws JsonSyntaxException {
    if (skipBlanks(at) != end) {
      throw error("unexpected text after the value", at);
    }
  }

  private int value(int at, int depth, MemberVisitor visitor) throws JsonSyntaxException {
    if (at >= end) {
      throw error("unexpected end", at);
    }
    return switch (json[at]) {
      case '{' -> members(at, depth + 1, visitor);
      case '[' -> elements(at, depth + 1, null);
      case '"' -> string(at);
      case 't' -> literal(at, "true");
      case 'f' -> literal(at, "false");
      case 'n' -> literal(at, "null");
      default -> number(at);
    };
  }

  private int members(int at, int depth, MemberVisitor visitor) throws JsonSyntaxException {
    requireDepth(depth, at);
    int i = skipBlanks(at + 1);
    if (i < end && json[i] == '}') {
      return i + 1;
    }
    while (true) {
      int nameEnd = string(i);
      int colon = skipBlanks(nameEnd);
      if (colon >= end || json[colon] != ':') {
        throw error("expected ':'", colon);
      }
      int valueFrom = skipBlanks(colon + 1);
      MemberVisitor inner = visitor == null ? null : visitor.inside(i + 1, nameEnd - 1);
      int valueTo = value(valueFrom, depth, inner);
      if (visitor != null) {
        visitor.member(i + 1, nameEnd - 1, valueFrom, valueTo);
      }
      i = skipBlanks(valueTo);
      if (i < end && json[i] == '}') {
        return i + 1;
      }
      i = skipBlanks(comma(i, '}'));
    }
  }

  private int elements(int at, int depth, ElementVisitor visitor) throws JsonSyntaxException {
    requireDepth(depth, at);
    int i = skipBlanks(at + 1);
    if (i < end && json[i] == ']') {
      return i + 1;
    }
    while (true) {
      int valueTo = value(i, depth, null);
      if (visitor != null) {
        visitor.element(i, valueTo);
      }
      i = skipBlanks(valueTo);
      if (i < end && json[i] == ']') {
        return i + 1;
      }
      i = skipBlanks(comma(i, ']'));
    }
  }

  private int comma(int at, char close) throws JsonSyntaxException {
    if (at >= end || json[at] != ',') {
      throw error("expected ',' or '" + close + "'", at);
    }
    return at + 1;
  }

  private void requireDepth(int depth, int at) throws JsonSyntaxException {
    if (depth > maxDepth) {
      throw error("nested deeper than " + maxDepth, at);
    }
  }

  private int skipBlanks(int at) {
    int i = at;
    while (i < end && (json[i] == ' ' || json[i] == '\n' || json[i] == '\r' || json[i] == '\t')) {
      i++;
    }
    sawWhitespace |= i > at;
    return i;
  }

  private int string(int at) throws JsonSyntaxException {
    if (at >= end || json[at] != '"') {
      throw error("expected a string", at);
    }
    int i = at + 1;
    while (true) {
      i = skipPlain(i);
      if (i >= end) {
        throw error("unterminated string", at);
      }
      byte c = json[i];
      if (c == '"') {
        return i + 1;
      }
      if (c == '\\') {
        i = escape(i);
      } else if (c < 0) {
        i = multibyte(i);
      } else {
        throw error("control character in a string", i);
      }
    }
  }

  /** Skips printable ASCII except quotes and backslashes, eight bytes at a time. */
  private int skipPlain(int at) {
    int i = at;
    while (i + 8 <= end) {
      long chunk = (long) LONG.get(json, i);
      long quote = chunk ^ (ONES * '"');
      long backslash = chunk ^ (ONES * '\\');
      long special =
          ((chunk - ONES * 0x20) & ~chunk)
              | ((quote - ONES) & ~quote)
              | ((backslash - ONES) & ~backslash)
              | chunk;
      special &= HIGHS;
      if (special != 0) {
        return i + (Long.numberOfTrailingZeros(special) >>> 3);
      }
      i += 8;
    }
    while (i < end && json[i] >= 0x20 && json[i] != '"' && json[i] != '\\') {
      i++;
    }
    return i;
  }

  private int escape(int at) throws JsonSyntaxException {
    int next = at + 1 < end ? json[at + 1] : 0;
    switch (next) {
      case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
        return at + 2;
      case 'u':
        break;
      default:
        throw error("unknown escape", at);
    }
    int unit = hex4(at + 2);
    if (!strict || unit < 0xD800 || unit > 0xDFFF) {
      return at + 6;
    }
    boolean paired =
        unit < 0xDC00
            && at + 12 <= end
            && json[at + 6] == '\\'
            && json[at + 7] == 'u'
            && (hex4(at + 8) & 0xFC00) == 0xDC00;
    if (!paired) {
      throw error("lone surrogate escape", at);
    }
    return at + 12;
  }

  private int hex4(int at) throws JsonSyntaxException {
    int unit = 0;
    for (int i = at; i < at + 4; i++) {
      int digit = i < end ? Character.digit(json[i], 16) : -1;
      if (digit < 0) {
        throw error("expected four hexadecimal digits", i);
      }
      unit = unit << 4 | digit;
    }
    return unit;
  }

  /** RFC 3629 section 4: well-formed sequences; only the second byte has special bounds. */
  private int multibyte(int at) throws JsonSyntaxException {
    int lead = json[at] & 0xFF;
    int second = at + 1 < end ? json[at + 1] & 0xFF : 0;
    int low = 0x80;
    int high = 0xBF;
    int length;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      low = lead == 0xE0 ? 0xA0 : low;
      high = lead == 0xED ? 0x9F : high;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      low = lead == 0xF0 ? 0x90 : low;
      high = lead == 0xF4 ? 0x8F : high;
    } else {
      throw error("invalid UTF-8", at);
    }
    if (second < low || second > high || at + length > end) {
      throw error("invalid UTF-8", at);
    }
    for (int i = at + 2; i < at + length; i++) {
      if ((json[i] & 0xC0) != 0x80) {
        throw error("invalid UTF-8", i);
      }
    }
    return at + length;
  }

  private int number(int at) throws JsonSyntaxException {
    int i = at < end && json[at] == '-' ? at + 1 : at;
    if (i < end && json[i] == '0') {
      i++;
    } else {
      i = digits(i, "expected a value");
    }
    boolean fraction = i < end && json[i] == '.';
    if (fraction) {
      i = digits(i + 1, "expected a digit after '.'");
    }
    boolean exponent = i < end && (json[i] == 'e' || json[i] == 'E');
    if (exponent) {
      int sign = i + 1 < end && (json[i + 1] == '+' || json[i + 1] == '-') ? i + 2 : i + 1;
      i = digits(sign, "expected a digit in the exponent");
    }
    if (strict && (exponent || i - at > 300)) {
      requireFinite(at, i);
    }
    return i;
  }

  private void requireFinite(int from, int to) throws JsonSyntaxException {
    if (to - from > MAX_STRICT_NUMBER) {
      throw error("number longer than " + MAX_STRICT_NUMBER + " characters", from);
    }
    String text = new String(json, from, to - from, StandardCharsets.US_ASCII);
    if (Double.isInfinite(Double.parseDouble(text))) {
      throw error("number out of range", from);
    }
  }

  private int digits(int at, String message) throws JsonSyntaxException {
    int i = at;
    while (i < end && json[i] >= '0' && json[i] <= '9') {
      i++;
    }
    if (i == at) {
      throw error(message, at);
    }
    return i;
  }

  private int literal(int at, String literal) throws JsonSyntaxException {
    for (int i = 0; i < literal.length(); i++) {
      if (at + i >= end || json[at + i] != literal.charAt(i)) {
        throw error("expected a value", at);
      }
    }
    return at + literal.length();
  }

  private static JsonSyntaxException error(String message, int at) {
    return new JsonSyntaxException(message, at);
  }
}
