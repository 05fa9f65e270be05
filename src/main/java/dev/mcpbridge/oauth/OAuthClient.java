package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import dev.mcpbridge.transport.RequestAuthorization;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The bridge as the OAuth 2.1 client of one server (MCP basic/authorization). Lives at the node
 * that runs the server. Confined to the event loop.
 */
public final class OAuthClient {
  private static final int MAX_CALLERS = 10_000;

  private final Vertx vertx;
  private final ServerId server;
  private final String url;
  private final OAuthConfig config;
  private final Grants grants;
  private final Discovery discovery;
  private final Registrations registrations;
  private final TokenEndpoint tokens;
  private final GuardedHttp http;

  private final RequestAuthorization own = new ServiceAuthorization(this);
  private final Map<String, RequestAuthorization> callers = new BoundedMap<>(MAX_CALLERS);

  private final AuthorizationFailures failures;
  private final ConsentRounds rounds = new ConsentRounds();

  /** The server's last challenge; null before its first. */
  private Challenge challenge;

  /**
   * Where credentials are kept, and for whom.
   *
   * @param idleMillis after which an unused grant is deleted
   * @param knows whether a principal, by name, may still call the bridge
   */
  public record Keeping(CredentialStore store, long idleMillis, Predicate<String> knows) {}

  public OAuthClient(Vertx vertx, ServerId server, URI url, OAuthConfig config, Keeping keeping) {
    this.vertx = vertx;
    this.server = server;
    this.config = config;
    this.failures = new AuthorizationFailures(server);
    this.url = String.valueOf(url);
    this.grants =
        new Grants(
            keeping.store(),
            server,
            keeping.idleMillis(),
            (principal, terms) -> keeping.knows().test(principal) && accepts(terms));
    this.http = new GuardedHttp(vertx, url, config);
    this.discovery = new Discovery(http, url, config);
    this.registrations = new Registrations(http, keeping.store(), server, config);
    this.tokens = new TokenEndpoint(http, config.client().key());
  }

  /** Whether terms fit the present configuration: nothing goes to another server. */
  private boolean accepts(Grant.Terms terms) {
    String clientId = config.client().id();
    return terms.server().equals(url)
        && (config.issuers().isEmpty() || config.issuers().contains(terms.issuer()))
        && (clientId == null || clientId.equals(terms.client().clientId()));
  }

  /** The authorization of a caller's connection. */
  public RequestAuthorization of(Caller caller) {
    return config.whose() == OAuthConfig.Whose.SERVICE
        ? own
        : callers.computeIfAbsent(owner(caller), unknown -> authorization(caller));
  }

  /**
   * Who has a connection of its own. Users agree to each client for itself: an access token of the
   * same user that another client has got uses nothing of what was granted through the first one
   * (confused deputy, MCP basic/security best practices).
   */
  public String owner(Caller caller) {
    String client = clientName(caller);
    return client == null ? caller.name() : caller.name() + ' ' + Sha256.of(client).hex(16);
  }

  /** Null for callers with a key, and where users agree to nothing. */
  private String clientName(Caller caller) {
    Principal.Token token = caller.principal().token();
    return token == null || !config.needsConsent() ? null : token.clientName();
  }

  private RequestAuthorization authorization(Caller caller) {
    Optional<String> principal = Optional.of(caller.name());
    return config.exchanges()
        ? new DeliveredAuthorization(this)
        : new CallerAuthorization(this, () -> principal, clientName(caller));
  }

  /** Takes the credential that came with a call, for the connection of its caller. */
  public void deliver(Caller caller) {
    if (of(caller) instanceof DeliveredAuthorization delivered) {
      delivered.deliver(caller.authorization());
    }
  }

  /** The authorization of the connection that reads the lists for all callers. */
  public RequestAuthorization shared() {
    return !config.needsConsent() || config.catalogueByService()
        ? own
        : new CallerAuthorization(this, grants::anyCaller, null);
  }

  /**
   * Begins an authorization.
   *
   * @param scope that a refused request needs; null if unknown
   * @return the URL for the browser, and what {@link #redeem} needs, which is secret
   */
  public Future<AuthorizationRequest> begin(BridgeUrls bridge, String state, String scope) {
    return discovered()
        .compose(
            found ->
                registrations
                    .at(found.issuer(), bridge)
                    .compose(client -> begin(found, client, bridge, state, scope)))
        .recover(failure -> Future.failedFuture(failures.noAuthorization(failure)));
  }

  private Future<AuthorizationRequest> begin(
      Discovery.ProtectedServer found,
      Registration client,
      BridgeUrls bridge,
      String state,
      String scope) {
    Grant.Terms terms = terms(found, client, scope);
    try {
      return Future.succeededFuture(
          AuthorizationRequest.of(
              http.permitted(found.issuer().endpoint("authorization_endpoint")),
              terms,
              bridge.callback(server.name()),
              state,
              found.issuer().namesItself(),
              config.request().parameters()));
    } catch (IOException e) {
      return Future.failedFuture(e);
    }
  }

  Grant.Terms terms(Discovery.ProtectedServer found, Registration client, String scope) {
    AuthorizationServer issuer = found.issuer();
    return new Grant.Terms(
        url,
        issuer.issuer(),
        issuer.endpoint("token_endpoint"),
        issuer.metadata().path("revocation_endpoint").textValue(),
        client,
        found.resource(),
        found.scopes(config, scope, challenge == null ? null : challenge.scope()));
  }

  /**
   * Redeems the answer to an authorization request.
   *
   * @param client of the principal that may use the grant; null for a principal without one
   * @param pending as {@link #begin} returned it
   */
  public Future<Void> redeem(String principal, String client, String pending, String code) {
    JsonNode request = Json.parsed(pending);
    Grant.Terms terms = AuthorizationRequest.terms(request);
    if (!accepts(terms)) {
      return Future.failedFuture(
          failures.noAuthorization(new IOException("its configuration has changed meanwhile")));
    }
    MultiMap form = AuthorizationRequest.redemption(request, code);
    addResource(form, terms.resource());
    return tokens
        .request(terms.tokenEndpoint(), terms.client(), form)
        .compose(received -> grants.add(principal, client, Grant.of(terms, received)))
        .onSuccess(hadOne -> rounds.agreed(principal, hadOne))
        .<Void>mapEmpty()
        .onFailure(failure -> forgetUnknownClient(terms.client(), failure))
        .recover(failure -> Future.failedFuture(failures.noAuthorization(failure)));
  }

  /** An authorization server may forget clients that it has registered. */
  void forgetUnknownClient(Registration client, Throwable failure) {
    if (failure instanceof TokenEndpoint.Refused refusal && refusal.isClientInvalid()) {
      registrations.forget(client);
    }
  }

  /** Deletes the grant of a caller, and revokes its tokens if that is possible (RFC 7009). */
  public Future<Void> forget(String principal) {
    return grants
        .of(principal)
        .compose(kept -> grants.remove(principal, kept.version()).map(kept.grant()))
        .compose(grant -> grant == null ? Future.succeededFuture() : revoked(grant));
  }

  Future<Void> revoked(Grant grant) {
    return tokens.revoke(grant).otherwiseEmpty();
  }

  static void addResource(MultiMap form, String resource) {
    if (resource != null) {
      form.add("resource", resource);
    }
  }

  Future<Grant> refreshed(Grant grant) {
    return tokens
        .request(grant.terms().tokenEndpoint(), grant.terms().client(), grant.refreshForm())
        .map(grant::renewed);
  }

  /** What the server publishes; its last challenge is forgotten if that cannot be used. */
  Future<Discovery.ProtectedServer> discovered() {
    return discovery
        .find(challenge == null ? Challenge.NONE : challenge)
        .onFailure(failure -> challenge = null);
  }

  OAuthConfig config() {
    return config;
  }

  TokenEndpoint tokens() {
    return tokens;
  }

  ServerId server() {
    return server;
  }

  Grants grants() {
    return grants;
  }

  Future<Void> later(long millis) {
    return vertx.timer(millis).mapEmpty();
  }

  /** Whether the server has refused a request without a credential. */
  boolean isProtected() {
    return challenge != null || config.endpoints().token() != null;
  }

  void learn(Challenge received) {
    challenge =
        received.resourceMetadata() == null && challenge != null
            ? new Challenge(challenge.resourceMetadata(), received.scope())
            : received;
  }

  /** The failure of a request without a usable grant. */
  BridgeException consentRequired() {
    return failures.consentRequired(challenge == null ? null : challenge.scope());
  }

  /** The failure of a request of a client to which its user has not agreed. */
  BridgeException clientUnknown(String client, Grant grant) {
    return failures.clientUnknown(client, grant.terms().scopes());
  }

  /** The failure of a request that needs more scopes than were granted. */
  BridgeException scopeRequired(String principal, String scope) {
    if (rounds.areUsedUp(principal)) {
      return failures.agreedInVain();
    }
    Set<String> all = new LinkedHashSet<>();
    Grant granted = grants.known(principal).grant();
    if (granted != null) {
      all.addAll(granted.terms().scopes());
    }
    if (scope != null) {
      all.addAll(Challenge.scopes(scope));
    }
    return failures.consentRequired(all.isEmpty() ? null : String.join(" ", all));
  }
}
