package dev.mcpbridge.config;

/** A value that may be secret: it is there for who needs it, and never prints itself. */
public record Secret(String reveal) {
  @Override
  public String toString() {
    return "****";
  }
}
