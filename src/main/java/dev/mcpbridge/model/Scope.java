package dev.mcpbridge.model;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The permissions of a principal. */
public enum Scope {
  /** See servers, catalogues, health, events. */
  READ,
  /** Call tools, read resources, get prompts, confirm its own calls. */
  CALL,
  /** See and decide the confirmations of other principals. */
  APPROVE,
  /** Start, stop and restart servers. */
  ADMIN,
  /** Read the audit trail. */
  AUDIT;

  public String apiName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The names of all scopes. */
  public static List<String> names() {
    return Arrays.stream(values()).map(Scope::apiName).toList();
  }

  public static Scope of(String apiName) {
    return valueOf(apiName.toUpperCase(Locale.ROOT));
  }

  /** The scopes that a token with this one grants: those before it too, except for the audit. */
  public Set<Scope> included() {
    return this == AUDIT ? EnumSet.of(AUDIT) : EnumSet.range(READ, this);
  }
}
