package dev.mcpbridge.auth;

import java.util.EnumSet;
import java.util.Set;

/** An authenticated caller, with the name that is used for quotas, confirmations and logs. */
public record Principal(String name, Set<Scope> scopes) {

  /** Every caller if no keys are configured. */
  public static final Principal ANONYMOUS = new Principal("anonymous", EnumSet.allOf(Scope.class));

  public boolean may(Scope scope) {
    return scopes.contains(scope);
  }
}
