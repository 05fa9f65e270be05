package dev.mcpbridge.model;

import java.util.Locale;

/** The risk level of a call and the reason for it. */
public record Risk(RiskLevel level, Reason reason) {

  /** This risk, or that of the access rules if they demand more. */
  public Risk raisedTo(RiskLevel atLeast) {
    return level.compareTo(atLeast) < 0 ? new Risk(atLeast, Reason.ACCESS) : this;
  }

  /** What determined the level. */
  public enum Reason {
    /** A rule for the target. */
    TOOL,
    /** The level of the server. */
    SERVER,
    /** The default for servers without a level. */
    DEFAULT,
    /** The tool has the annotation {@code destructiveHint}. */
    ANNOTATION,
    /** The HTTP method of the operation. */
    METHOD,
    /** An access rule for the caller. */
    ACCESS,
    /** No rule applies. */
    NONE;

    /** The value in the API. */
    public String apiName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
