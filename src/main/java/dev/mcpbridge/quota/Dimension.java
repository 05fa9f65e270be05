package dev.mcpbridge.quota;

import java.util.Locale;

/** What the calls of one count have in common. */
public enum Dimension {
  CALLER,
  CLIENT,
  ROLE,
  SERVER,
  TOOL;

  public static Dimension of(String apiName) {
    return valueOf(apiName.toUpperCase(Locale.ROOT));
  }

  /** Whether calls that have it in common all go to the owner of one server. */
  boolean isOfServer() {
    return this == SERVER || this == TOOL;
  }
}
