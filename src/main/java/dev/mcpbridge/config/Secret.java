package dev.mcpbridge.config;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A value that may be secret. Its string form does not reveal it. */
public record Secret(String reveal) {
  private static final int MIN_LENGTH = 6;
  private static final Pattern SECRET_NAME =
      Pattern.compile(
          "(?i).*(token|key|secret|pass|pwd|credential|auth|cookie|private|dsn).*|.*_PAT");

  /** The password in a URL (RFC 3986 section 3.2.1). */
  private static final Pattern PASSWORD = Pattern.compile("://[^/@\\s:]*:([^/@\\s]+)@");

  /**
   * What must not be shown of variables: the lines of values whose names say that they are secret,
   * and passwords in URLs; the longest first.
   */
  static List<String> in(Map<String, Secret> variables) {
    return variables.entrySet().stream()
        .flatMap(variable -> parts(variable.getKey(), variable.getValue().reveal()))
        .filter(part -> part.length() >= MIN_LENGTH)
        .distinct()
        .sorted(Comparator.comparingInt(String::length).reversed())
        .toList();
  }

  private static Stream<String> parts(String name, String value) {
    Stream<String> passwords = PASSWORD.matcher(value).results().map(password -> password.group(1));
    return SECRET_NAME.matcher(name).matches()
        ? Stream.concat(value.lines().map(String::strip), passwords)
        : passwords;
  }

  @Override
  public String toString() {
    return "****";
  }
}
