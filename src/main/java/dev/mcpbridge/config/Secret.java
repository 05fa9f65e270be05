package dev.mcpbridge.config;

/** A value that may be secret. Its string form does not reveal it. */
public record Secret(String reveal) {
  @Override
  public String toString() {
    return "****";
  }
}
