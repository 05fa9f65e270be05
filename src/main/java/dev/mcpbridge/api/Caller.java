package dev.mcpbridge.api;

import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * On whose behalf the program calls tools. The program vouches for it: the bridge asks for no
 * credential. Access rules, quotas, confirmations and the audit trail know it as {@code
 * program|name}. Immutable.
 *
 * @param name of a user or a part of the program, at most 200 characters without {@code |}
 * @param roles for access rules
 * @param mayApprove whether it may see and decide the confirmations of other callers
 */
public record Caller(String name, Set<String> roles, boolean mayApprove) {
  /** The name of all callers' issuer in rules and in the audit trail. */
  static final String PROGRAM = "program";

  private static final int MAX_NAME = 200;
  private static final Map<Scope, String> SCOPE_NAMES =
      Stream.of(Scope.values()).collect(Collectors.toMap(scope -> scope, Scope::apiName));

  /**
   * @throws IllegalArgumentException for a name that is empty, too long, or has control characters
   *     or a vertical bar
   */
  public Caller {
    Objects.requireNonNull(name, "name");
    roles = Set.copyOf(roles);
    boolean isPlain = name.chars().noneMatch(c -> c == '|' || Character.isISOControl(c));
    if (name.isBlank() || name.length() > MAX_NAME || !isPlain) {
      throw new IllegalArgumentException(
          "The name of a caller needs 1 to " + MAX_NAME + " characters, without '|' and controls");
    }
  }

  /** A caller without roles, that decides its own confirmations only. */
  public static Caller named(String name) {
    return new Caller(name, Set.of(), false);
  }

  /** The same caller with these roles. */
  public Caller withRoles(String... names) {
    return new Caller(name, Set.of(names), mayApprove);
  }

  /** The same caller, which may decide the confirmations of others. */
  public Caller asApprover() {
    return new Caller(name, roles, true);
  }

  Principal principal() {
    Set<Scope> scopes = EnumSet.of(Scope.READ, Scope.CALL);
    if (mayApprove) {
      scopes.add(Scope.APPROVE);
    }
    Set<String> granted = scopes.stream().map(Scope::apiName).collect(Collectors.toSet());
    return new Principal(
        Principal.nameOf(PROGRAM, name),
        scopes,
        roles,
        new Principal.Token(PROGRAM, null, Long.MAX_VALUE, granted, SCOPE_NAMES));
  }
}
