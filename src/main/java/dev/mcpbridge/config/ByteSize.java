package dev.mcpbridge.config;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses sizes: {@code 512m}, {@code 1.5g}, or a number of bytes. */
final class ByteSize {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15}(?:\\.\\d{1,3})?)([kmg]?)b?");

  private ByteSize() {}

  /** The size in bytes; -1 if the text is invalid. */
  static long parse(String text) {
    Matcher size = SIZE.matcher(text.strip().toLowerCase(Locale.ROOT));
    if (!size.matches()) {
      return -1;
    }
    int power =
        switch (size.group(2)) {
          case "k" -> 10;
          case "m" -> 20;
          case "g" -> 30;
          default -> 0;
        };
    return (long) (Double.parseDouble(size.group(1)) * (1L << power));
  }
}
