package dev.mcpbridge.auth;

import java.util.Locale;

/** What a principal may do. */
public enum Scope {
  /** See servers, catalogues, health, events. */
  READ,
  /** Call tools, read resources, get prompts, confirm one's own calls. */
  CALL,
  /** See and decide other principals' confirmations. */
  APPROVE,
  /** Start, stop and restart servers. */
  ADMIN;

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
