package dev.mcpbridge.oauth;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server says when it refuses a request (RFC 6750 section 3, RFC 9728 section 5.1).
 *
 * @param resourceMetadata null if absent
 * @param scope space-separated; null if absent
 */
record Challenge(String resourceMetadata, String scope) {
  private static final Pattern SCOPE =
      Pattern.compile("[\\x21\\x23-\\x5B\\x5D-\\x7E]+( +[\\x21\\x23-\\x5B\\x5D-\\x7E]+)*+");
  private static final int MAX_SCOPE = 1_000;
  static final Challenge NONE = new Challenge(null, null);
  private static final int MAX_LENGTH = 8 << 10;

  /** What follows the scheme; other challenges may precede it in the same header. */
  private static final Pattern BEARER =
      Pattern.compile("(?:^|[,\\s])bearer(?:\\s(.*)|$)", Pattern.CASE_INSENSITIVE);

  /** A parameter of a challenge: a token, or a quoted string (RFC 9110 section 11.2). */
  private static final Pattern PARAMETER =
      Pattern.compile(
          "([\\w-]++)\\s*+=\\s*+(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|([^\\s,\"]++))",
          Pattern.CASE_INSENSITIVE);

  /** The first Bearer challenge of a response. */
  static Challenge of(List<String> headers) {
    return headers.stream()
        .filter(text -> text.length() <= MAX_LENGTH)
        .map(BEARER::matcher)
        .filter(Matcher::find)
        .findFirst()
        .map(bearer -> parse(String.valueOf(bearer.group(1))))
        .orElse(NONE);
  }

  /** Whether a text is a list of scopes (RFC 6749 section 3.3) of sensible length. */
  static boolean isScope(String text) {
    return text.length() <= MAX_SCOPE && SCOPE.matcher(text).matches();
  }

  /** The scopes of a space-separated list. */
  static List<String> scopes(String scope) {
    return scope.isBlank() ? List.of() : List.of(scope.strip().split(" +"));
  }

  private static Challenge parse(String text) {
    String metadata = null;
    String scope = null;
    Matcher parameter = PARAMETER.matcher(text);
    while (parameter.find()) {
      String quoted = parameter.group(2);
      String value = quoted == null ? parameter.group(3) : quoted.replaceAll("\\\\(.)", "$1");
      if (parameter.group(1).equalsIgnoreCase("scope")) {
        scope = scope == null ? value : scope;
      } else if (parameter.group(1).equalsIgnoreCase("resource_metadata")) {
        metadata = metadata == null ? value : metadata;
      }
    }
    return new Challenge(metadata, scope != null && isScope(scope) ? scope : null);
  }
}
