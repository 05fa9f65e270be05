package dev.mcpbridge.auth;

import static java.util.Locale.ROOT;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The claims of a token, from a JWT (RFC 9068 section 2.2) or an introspection (RFC 7662 section
 * 2.2). Immutable.
 */
record TokenClaims(JsonNode claims) {
  /** Claims that only ID tokens have. */
  private static final List<String> OF_ID_TOKENS = List.of("nonce", "at_hash");

  /** Values of {@code typ} in introspections of Keycloak. */
  private static final Set<String> KINDS_OF_OTHERS = Set.of("refresh", "offline", "id");

  private static final String ANY_AUDIENCE = "*";

  /** OpenID Connect Core 1.0, section 2. */
  private static final int MAX_SUBJECT = 255;

  private static final long NEVER = Long.MAX_VALUE;

  String text(String claim) {
    JsonNode value = claims.path(claim);
    return value.isTextual() ? value.textValue() : null;
  }

  boolean expires() {
    return claims.has("exp");
  }

  /**
   * Checks the times (RFC 7519 section 4.1), and that the token may be used by who sends it.
   *
   * @throws dev.mcpbridge.error.BridgeException UNAUTHENTICATED
   */
  void checkValidity(long skewMillis, long nowMillis) {
    if (nowMillis - millis("exp", NEVER) >= skewMillis) {
      throw Rejection.EXPIRED.failure();
    }
    long begins = Math.max(millis("nbf", 0), millis("iat", 0));
    if (begins - nowMillis > skewMillis) {
      throw Rejection.NOT_YET_VALID.failure();
    }
    if (claims.has("cnf")) {
      throw Rejection.BOUND.failure();
    }
  }

  /** Whether this is an access token by its claims, where its type does not say so. */
  boolean isAccessToken() {
    return client() != null
        && (claims.has("scope") || claims.has("scp"))
        && OF_ID_TOKENS.stream().noneMatch(claims::has);
  }

  /**
   * Whether an introspection says that the token is a refresh token or an ID token, for which an
   * issuer answers too. Issuers name the kind in different members.
   */
  boolean isOfAnotherKind() {
    return !isAbsentOr("token_type", "bearer", "access_token")
        || !isAbsentOr("token_use", "access_token", "access")
        || KINDS_OF_OTHERS.contains(Objects.requireNonNullElse(text("typ"), "").toLowerCase(ROOT));
  }

  private boolean isAbsentOr(String claim, String... kinds) {
    String kind = text(claim);
    return kind == null || List.of(kinds).contains(kind.toLowerCase(ROOT));
  }

  /** The time of a claim in milliseconds; any other value invalidates the token. */
  private long millis(String claim, long absent) {
    JsonNode seconds = claims.path(claim);
    if (seconds.isMissingNode()) {
      return absent;
    }
    if (!seconds.isNumber()) {
      throw Rejection.MALFORMED.failure();
    }
    return (long) (seconds.doubleValue() * 1000);
  }

  /** Whether the token is for a client, and for no other (OpenID Connect Core 1.0 section 2). */
  boolean isFor(String clientId) {
    Set<String> audiences = texts(claims.path("aud"));
    String authorized = text("azp");
    return audiences.contains(clientId)
        && (audiences.size() == 1
            ? authorized == null || authorized.equals(clientId)
            : clientId.equals(authorized));
  }

  private String client() {
    String client = text("client_id");
    return client == null ? text("azp") : client;
  }

  /**
   * The identity that the token proves.
   *
   * @throws dev.mcpbridge.error.BridgeException UNAUTHENTICATED without subject or audience
   */
  Identity identity(AuthConfig.Issuer issuer, boolean isIntrospected) {
    Principal principal =
        new Principal(
            Principal.nameOf(issuer.name(), subject(isIntrospected)),
            scopes(issuer.grants()),
            roles(issuer.grants()),
            new Principal.Token(
                issuer.name(),
                client(),
                millis("exp", NEVER),
                granted(),
                scopeNames(issuer.grants())));
    Set<String> audiences = texts(claims.path("aud"));
    Set<String> accepted = issuer.tokens().audiences();
    boolean needsNone = isIntrospected && accepted.contains(ANY_AUDIENCE);
    boolean isAccepted =
        audiences.stream().anyMatch(each -> accepted.contains(each) && !each.equals(ANY_AUDIENCE));
    if (audiences.isEmpty() && needsNone || isAccepted) {
      return Identity.everywhere(principal);
    }
    return new Identity(
        principal, audiences.stream().map(TokenClaims::withoutSlash).collect(Collectors.toSet()));
  }

  /**
   * The subject, which becomes part of names in logs. A client that acts for itself may have none
   * in an introspection; its id then follows a second bar, with which no subject may begin.
   */
  String subject(boolean isIntrospected) {
    String subject = text("sub");
    if (subject == null && isIntrospected && client() != null) {
      return "|" + client();
    }
    boolean isName =
        subject != null
            && !subject.isEmpty()
            && subject.length() <= MAX_SUBJECT
            && !subject.startsWith("|")
            && subject.chars().noneMatch(Character::isISOControl);
    if (!isName) {
      throw Rejection.NO_SUBJECT.failure();
    }
    return subject;
  }

  /** Some clients turn https://host into https://host/. */
  private static String withoutSlash(String audience) {
    return audience.endsWith("/") ? audience.substring(0, audience.length() - 1) : audience;
  }

  private static Map<Scope, String> scopeNames(AuthConfig.Grants grants) {
    Map<Scope, String> names = new EnumMap<>(Scope.class);
    grants.scopes().forEach((scope, name) -> names.put(Scope.of(scope), name));
    return names;
  }

  private Set<String> granted() {
    Set<String> granted = new HashSet<>();
    for (String claim : List.of("scope", "scp")) {
      texts(claims.path(claim)).forEach(text -> granted.addAll(List.of(text.split(" "))));
    }
    return Set.copyOf(granted);
  }

  private Set<Scope> scopes(AuthConfig.Grants grants) {
    Set<String> granted = granted();
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    scopeNames(grants)
        .forEach(
            (scope, name) -> {
              if (granted.contains(name)) {
                scopes.addAll(scope.included());
              }
            });
    return Set.copyOf(scopes);
  }

  private Set<String> roles(AuthConfig.Grants grants) {
    Set<String> roles = new HashSet<>();
    grants.roleClaims().forEach(path -> roles.addAll(texts(atPath(path))));
    return Set.copyOf(roles);
  }

  /** A claim with the whole path as its name, or the member that the path leads to. */
  private JsonNode atPath(String path) {
    if (claims.has(path)) {
      return claims.path(path);
    }
    JsonNode node = claims;
    for (String name : path.split("\\.")) {
      node = node.path(name);
    }
    return node;
  }

  /** A text or a list of texts; anything else is empty. */
  private static Set<String> texts(JsonNode node) {
    Set<String> texts = new HashSet<>();
    if (node.isTextual()) {
      texts.add(node.textValue());
    } else if (node.isArray()) {
      node.forEach(
          each -> {
            if (each.isTextual()) {
              texts.add(each.textValue());
            }
          });
    }
    return texts;
  }
}
