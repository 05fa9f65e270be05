package dev.mcpbridge.auth;

import java.util.Locale;

/** The permissions of a principal. */
public enum Scope {
  /** See servers, catalogues, health, events. */
  READ,
  /** Call tools, read resources, get prompts, confirm its own calls. */
  CALL,
  /** See and decide the confirmations of other principals. */
  APPROVE,
  /** Start, stop and restart servers. */
  ADMIN;

  public String apiName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
