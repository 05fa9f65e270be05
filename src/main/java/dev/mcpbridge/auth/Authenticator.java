package dev.mcpbridge.auth;

import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Identifies callers by API keys and access tokens. Verdicts about tokens are kept for a short time
 * by the digest of the token. Confined to the event loop.
 */
public final class Authenticator {
  private static final Future<Identity> ANYBODY =
      Future.succeededFuture(Identity.everywhere(Principal.ANONYMOUS));
  private static final int MAX_TOKEN = 8 << 10;
  private static final int MAX_LOOKUPS = 64;

  private final AuthConfig config;
  private final ApiKeys keys;
  private final List<TokenIssuer> issuers;
  private final ConsoleSessions sessions;
  private final Verdicts verdicts = new Verdicts(System::currentTimeMillis);

  /** Limits questions about tokens, which anybody can cause, by the address of the client. */
  private final Shares lookups =
      new Shares(new Shares.Limit("lookups of tokens", "", MAX_LOOKUPS, 1_000), () -> true);

  /** Introspections that have not been answered, by the digest of the token. */
  private final Map<String, Future<Identity>> asked = new HashMap<>();

  /**
   * @param sessions of the console
   */
  public Authenticator(Vertx vertx, AuthConfig config, ConsoleSessions sessions) {
    this.config = config;
    this.sessions = sessions;
    this.keys = new ApiKeys(config.keys());
    this.issuers =
        config.issuers().stream()
            .map(issuer -> new TokenIssuer(vertx, issuer, verdicts::clear))
            .toList();
  }

  /** The login of users in a browser; empty if it is not configured. */
  public Optional<UserLogin> login() {
    return Optional.ofNullable(config.login())
        .flatMap(
            login ->
                issuers.stream()
                    .filter(issuer -> issuer.config().name().equals(login.issuer()))
                    .findFirst()
                    .map(issuer -> new UserLogin(login, issuer)));
  }

  /** Whether callers need a credential. */
  public boolean isRequired() {
    return config.isRequired();
  }

  /**
   * Identifies a caller. The result is there at once, except for tokens that an issuer has to be
   * asked about.
   *
   * @param credential bearer token or API key; null if absent
   * @param address of the client
   * @return fails with UNAUTHENTICATED, and with the member {@code reason} for an invalid token;
   *     with ISSUER_UNAVAILABLE, RATE_LIMITED or OVERLOADED if a token cannot be checked now
   */
  public Future<Identity> authenticate(String credential, Supplier<String> address) {
    if (!isRequired()) {
      return ANYBODY;
    }
    if (credential == null) {
      return Future.failedFuture(credentialRequired());
    }
    if (credential.length() > MAX_TOKEN) {
      return Future.failedFuture(
          issuers.isEmpty() ? credentialRequired() : Rejection.MALFORMED.failure());
    }
    byte[] hash = Sha256.of(credential).bytes();
    Optional<Identity> key = keys.find(hash);
    if (key.isPresent()) {
      return Future.succeededFuture(key.get());
    }
    if (ConsoleSessions.isLike(credential)) {
      return ofSession(credential, address);
    }
    return issuers.isEmpty() || ApiKeys.isLike(credential)
        ? Future.failedFuture(credentialRequired())
        : ofToken(credential, new String(hash, StandardCharsets.ISO_8859_1), address);
  }

  /** A session may have been opened at another node just now. */
  private Future<Identity> ofSession(String token, Supplier<String> address) {
    Optional<byte[]> known = sessions.known(token);
    if (known.isPresent()) {
      return ofKey(known);
    }
    String share = address.get();
    lookups.acquire(share);
    return sessions.find(token).onComplete(over -> lookups.release(share)).compose(this::ofKey);
  }

  private Future<Identity> ofKey(Optional<byte[]> hash) {
    return hash.flatMap(keys::find)
        .map(Future::succeededFuture)
        .orElseGet(() -> Future.failedFuture(credentialRequired()));
  }

  private BridgeException credentialRequired() {
    return new BridgeException(
        ErrorCode.UNAUTHENTICATED,
        issuers.isEmpty()
            ? "A valid API key is required, as a bearer token or in X-API-Key"
            : "An access token is required as a bearer token, or a valid API key");
  }

  /**
   * @param digest SHA-256 of the token, one character a byte
   */
  private Future<Identity> ofToken(String token, String digest, Supplier<String> address) {
    Future<Identity> known = verdicts.of(digest);
    if (known != null) {
      return known;
    }
    return SignedToken.isLike(token)
        ? verified(token, digest)
        : introspected(token, digest, address);
  }

  private Future<Identity> verified(String token, String digest) {
    return Future.succeededFuture(token)
        .map(SignedToken::parse)
        .compose(signed -> issuer(signed.issuer()).verify(signed))
        .onSuccess(identity -> verdicts.ofSignature(digest, identity));
  }

  private TokenIssuer issuer(String claimed) {
    return issuers.stream()
        .filter(issuer -> issuer.config().issuer().equals(claimed))
        .findFirst()
        .orElseThrow(Rejection.WRONG_ISSUER::failure);
  }

  private Future<Identity> introspected(String token, String digest, Supplier<String> address) {
    Future<Identity> running = asked.get(digest);
    if (running != null) {
      return running;
    }
    Optional<TokenIssuer> able = issuers.stream().filter(TokenIssuer::introspects).findFirst();
    if (able.isEmpty()) {
      return Future.failedFuture(Rejection.MALFORMED.failure());
    }
    String share = address.get();
    lookups.acquire(share);
    Future<Identity> answer = able.get().introspect(token);
    asked.put(digest, answer);
    return answer.onComplete(
        over -> {
          asked.remove(digest);
          lookups.release(share);
          verdicts.ofIssuer(digest, answer);
        });
  }

  /** The configured names of issuers that could not be reached when they were asked last. */
  public List<String> unavailableIssuers() {
    return issuers.stream()
        .filter(TokenIssuer::isUnavailable)
        .map(issuer -> issuer.config().name())
        .toList();
  }

  /**
   * The principal of an earlier request with the rights that its credential has now. A token keeps
   * those that it had, as long as its issuer is configured.
   *
   * @throws BridgeException FORBIDDEN if the credential has been withdrawn
   */
  public Principal renewed(Principal earlier) {
    Optional<Principal> present;
    if (earlier.token() != null) {
      present = Optional.of(earlier).filter(known -> config.hasIssuer(known.token().issuer()));
    } else if (earlier.isAnonymous()) {
      present = Optional.of(earlier).filter(anybody -> !isRequired());
    } else {
      present = keys.named(earlier.name());
    }
    return present.orElseThrow(
        () ->
            new BridgeException(
                ErrorCode.FORBIDDEN, "The credential of the caller has been withdrawn"));
  }

  /**
   * Whether a principal would still be accepted, with the same rights.
   *
   * @param before what identified it
   */
  public boolean accepts(Principal principal, Authenticator before) {
    if (principal.token() != null) {
      return config.issuers().equals(before.config.issuers());
    }
    return isRequired() ? keys.isValid(principal) : principal == Principal.ANONYMOUS;
  }
}
