package dev.mcpbridge.model;

import java.util.Optional;

/** The three levels of the paper (section 3.4) with the descriptions of its implementation. */
public enum RiskLevel {
  LOW(1, "Low risk - Standard execution"),
  MEDIUM(2, "Medium risk - Requires confirmation"),
  HIGH(3, "High risk - Docker execution required");

  private final int number;
  private final String description;

  RiskLevel(int number, String description) {
    this.number = number;
    this.description = description;
  }

  public int number() {
    return number;
  }

  public String description() {
    return description;
  }

  public static Optional<RiskLevel> of(int number) {
    return number >= 1 && number <= 3 ? Optional.of(values()[number - 1]) : Optional.empty();
  }
}
