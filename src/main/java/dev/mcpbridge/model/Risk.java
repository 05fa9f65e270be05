package dev.mcpbridge.model;

import java.util.Locale;

/** The level of a call, and what decided it. */
public record Risk(RiskLevel level, Reason reason) {

  /** What decided the level. */
  public enum Reason {
    /** The rule for this very target. */
    TOOL,
    /** The level of its server. */
    SERVER,
    /** The default for servers that have none. */
    DEFAULT,
    /** The tool calls itself destructive. */
    ANNOTATION,
    /** The operation's HTTP method. */
    METHOD,
    /** Nobody said anything. */
    NONE;

    /** As the API spells it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
