package dev.mcpbridge.config;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A value that may be secret. Its string form does not reveal it. */
public record Secret(String reveal) {
  private static final int MIN_LENGTH = 6;
  private static final Pattern SECRET_NAME =
      Pattern.compile("(?i).*(token|key|secret|passw|credential|auth|cookie).*");

  /** The values of variables whose names say that they are secret, the longest first. */
  static List<String> named(Map<String, Secret> variables) {
    return variables.entrySet().stream()
        .filter(variable -> SECRET_NAME.matcher(variable.getKey()).matches())
        .map(variable -> variable.getValue().reveal())
        .filter(value -> value.length() >= MIN_LENGTH)
        .sorted((one, other) -> other.length() - one.length())
        .toList();
  }

  @Override
  public String toString() {
    return "****";
  }
}
