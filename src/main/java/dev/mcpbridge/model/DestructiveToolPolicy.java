package dev.mcpbridge.model;

/** How the {@code destructiveHint} of a tool affects its risk level. */
public enum DestructiveToolPolicy {
  RAISE,
  IGNORE
}
