package dev.mcpbridge.auth;

import java.util.EnumSet;
import java.util.Set;

/** Somebody who calls, under the name that queues, confirmations and logs know. */
public record Principal(String name, Set<Scope> scopes) {

  /** Everybody, where no keys are configured. */
  public static final Principal ANONYMOUS = new Principal("anonymous", EnumSet.allOf(Scope.class));

  public boolean may(Scope scope) {
    return scopes.contains(scope);
  }
}
