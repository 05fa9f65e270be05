package dev.mcpbridge.model;

/** What becomes of a tool that calls itself destructive, whatever else is said about it. */
public enum DestructiveToolPolicy {
  RAISE,
  IGNORE
}
