package dev.mcpbridge.access;

import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Principal;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * The callers that a rule is about: those that fit every list that is not empty, each by any of its
 * elements.
 *
 * @param principals names of principals, which may be patterns
 * @param issuers configured names of issuers of tokens
 * @param clients ids of clients that tokens were issued to
 * @param scopes names of scopes as in tokens, or scopes of keys
 * @param credential whether they must have a credential
 */
public record Who(
    List<Glob> principals,
    Set<String> issuers,
    Set<String> clients,
    Set<String> roles,
    Set<String> scopes,
    Set<String> keys,
    Credential credential) {

  public static final Who EVERYBODY =
      new Who(List.of(), Set.of(), Set.of(), Set.of(), Set.of(), Set.of(), Credential.UNIMPORTANT);

  /** Whether callers need a credential to fit. */
  public enum Credential {
    UNIMPORTANT,
    REQUIRED,
    FORBIDDEN
  }

  public boolean fits(Principal caller) {
    return mismatch(caller) == null;
  }

  /** Null if the caller fits, else what does not fit, as a clause. */
  String mismatch(Principal caller) {
    Principal.Token token = caller.token();
    if (credential == Credential.REQUIRED && caller.isAnonymous()) {
      return "the caller has no credential";
    }
    if (credential == Credential.FORBIDDEN && !caller.isAnonymous()) {
      return "the caller has a credential";
    }
    if (!principals.isEmpty() && principals.stream().noneMatch(p -> p.matches(caller.name()))) {
      return "the caller is not one of the principals";
    }
    if (!keys.isEmpty()
        && (token != null || caller.isAnonymous() || !keys.contains(caller.name()))) {
      return "the caller has none of the keys";
    }
    if (!issuers.isEmpty() && (token == null || !issuers.contains(token.issuer()))) {
      return "no token of one of the issuers";
    }
    if (!clients.isEmpty() && (token == null || !contains(clients, token.client()))) {
      return "no token of one of the clients";
    }
    if (!roles.isEmpty() && Collections.disjoint(roles, caller.roles())) {
      return "the caller has none of the roles";
    }
    if (!scopes.isEmpty() && Collections.disjoint(scopes, caller.scopeNames())) {
      return "the caller has none of the scopes";
    }
    return null;
  }

  private static boolean contains(Set<String> clients, String client) {
    return client != null && clients.contains(client);
  }
}
