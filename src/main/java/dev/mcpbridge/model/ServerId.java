package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;

/**
 * The name of a server. It is used in paths, addresses, labels and log fields, so only letters,
 * digits, {@code _ . -} are allowed, at most 63, starting with a letter or a digit.
 */
public record ServerId(String name) {
  private static final int MAX_LENGTH = 63;

  public ServerId {
    if (!isValid(name)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER,
          "A server id is 1 to 63 letters, digits, '_', '.' or '-' and starts with a letter or a"
              + " digit");
    }
  }

  public static boolean isValid(String name) {
    if (name == null || name.isEmpty() || name.length() > MAX_LENGTH) {
      return false;
    }
    return alphanumeric(name.charAt(0)) && name.chars().allMatch(ServerId::allowed);
  }

  private static boolean allowed(int c) {
    return alphanumeric(c) || c == '_' || c == '.' || c == '-';
  }

  private static boolean alphanumeric(int c) {
    return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
  }

  // Explicit because the generated methods of a record are linked at run time, which delays the
  // start of the process.

  @Override
  public boolean equals(Object other) {
    return other instanceof ServerId id && name.equals(id.name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }
}
