package dev.mcpbridge.oauth;

import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Exchanges the access tokens of callers for tokens of servers (RFC 8693), in one step or by an
 * assertion of their identity provider. Lives at the node that has received the caller's token,
 * which no other node learns. Confined to the event loop.
 */
public final class TokenExchange {
  private static final String GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
  private static final String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
  private static final int MAX_TOKENS = 10_000;

  private final Vertx vertx;
  private final Function<ServerId, UpstreamTarget> targets;
  private final Map<ServerId, Exchanger> exchangers = new HashMap<>();

  /** Exchanged tokens, by the digest of the caller's token and the server. */
  private final Map<String, Exchanged> tokens = new BoundedMap<>(MAX_TOKENS);

  /**
   * An exchanged token.
   *
   * @param target for which it was issued
   */
  private record Exchanged(UpstreamTarget target, Future<Grant> grant, long untilMillis) {
    boolean isUsable(UpstreamTarget now, long millis) {
      return target.equals(now)
          && (!grant.isComplete()
              || grant.succeeded() && millis < untilMillis && grant.result().isFresh(millis));
    }

    boolean is(String header) {
      return grant.succeeded() && grant.result().header().equals(header);
    }
  }

  /** How tokens of one server are obtained; replaced when its configuration changes. */
  private record Exchanger(UpstreamTarget target, Discovery discovery, TokenEndpoint endpoint) {
    OAuthConfig config() {
      return target.oauth();
    }

    /** What is sent to the authorization server of the server. */
    Future<MultiMap> form(Caller caller, Grant.Terms terms) {
      OAuthConfig config = config();
      return config.whose() == OAuthConfig.Whose.ID_JAG
          ? new IdentityAssertion(endpoint, config.endpoints().identityProvider())
              .form(caller, config, terms)
          : Future.succeededFuture(TokenExchange.form(caller, config, terms));
    }
  }

  /**
   * @param targets the target of a server by the present configuration; null if it is unknown
   */
  public TokenExchange(Vertx vertx, Function<ServerId, UpstreamTarget> targets) {
    this.vertx = vertx;
    this.targets = targets;
  }

  /** Whether a server gets exchanged tokens. */
  public boolean isFor(ServerId server) {
    UpstreamTarget target = targets.apply(server);
    return target != null && target.oauth() != null && target.oauth().exchanges();
  }

  /** Whether a server is an HTTP API, to which callers may send credentials of their own. */
  public boolean isForApi(ServerId server) {
    UpstreamTarget target = targets.apply(server);
    return target != null && target.isAdapter();
  }

  /** Whether an MCP server gets exchanged tokens. */
  public boolean isForMcp(ServerId server) {
    return isFor(server) && !targets.apply(server).isAdapter();
  }

  /**
   * The caller with the credential for a server.
   *
   * @return fails with FORBIDDEN if there is no token to exchange or the exchange is refused, with
   *     ISSUER_UNAVAILABLE if it is not possible now
   */
  public Future<Caller> exchanged(Caller caller, ServerId server) {
    if (caller.token() == null) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN,
              "Server '" + server + "' needs an access token of its caller, not an API key"));
    }
    long now = System.currentTimeMillis();
    String key = key(caller, server);
    Exchanged known = tokens.get(key);
    UpstreamTarget target = targets.apply(server);
    if (known == null || !known.isUsable(target, now)) {
      long untilMillis = caller.principal().token().expiresMillis();
      known = new Exchanged(target, exchange(caller, server, target), untilMillis);
      tokens.put(key, known);
    }
    return known.grant().map(grant -> caller.withAuthorization(grant.header()));
  }

  /** The server has refused the exchanged token, which an approved call has brought with it. */
  public void forget(Caller caller, ServerId server) {
    if (caller.token() != null) {
      tokens.remove(key(caller, server));
    }
    tokens.values().removeIf(each -> each.is(caller.authorization()));
  }

  /** Whether a value of Authorization is an exchanged token. */
  public boolean hasIssued(String header) {
    return tokens.values().stream().anyMatch(each -> each.is(header));
  }

  private static String key(Caller caller, ServerId server) {
    return server.name() + ' ' + Sha256.of(caller.token()).hex();
  }

  private Future<Grant> exchange(Caller caller, ServerId server, UpstreamTarget target) {
    Exchanger exchanger = exchanger(server, target);
    OAuthConfig config = exchanger.config();
    return exchanger
        .discovery()
        .find(Challenge.NONE)
        .compose(
            found -> {
              Registration client = Registration.of(config.client(), found.issuer());
              Grant.Terms terms =
                  new Grant.Terms(
                      String.valueOf(target.url()),
                      found.issuer().issuer(),
                      found.issuer().endpoint("token_endpoint"),
                      null,
                      client,
                      found.resource(),
                      config.request().scopes());
              return exchanger
                  .form(caller, terms)
                  .compose(
                      form -> exchanger.endpoint().request(terms.tokenEndpoint(), client, form))
                  .map(tokens -> Grant.of(terms, tokens));
            })
        .recover(failure -> Future.failedFuture(refused(server, failure)));
  }

  private Exchanger exchanger(ServerId server, UpstreamTarget target) {
    Exchanger known = exchangers.get(server);
    if (known == null || !known.target().equals(target)) {
      GuardedHttp http = new GuardedHttp(vertx, target.url(), target.oauth());
      known =
          new Exchanger(
              target,
              new Discovery(http, target.url(), target.oauth()),
              new TokenEndpoint(http, target.oauth().client().key()));
      exchangers.put(server, known);
    }
    return known;
  }

  static MultiMap form(Caller caller, OAuthConfig config, Grant.Terms terms) {
    MultiMap form =
        MultiMap.caseInsensitiveMultiMap()
            .add("grant_type", GRANT_TYPE)
            .add("subject_token", caller.token())
            .add("subject_token_type", ACCESS_TOKEN)
            .add("requested_token_type", ACCESS_TOKEN);
    if (config.request().audience() != null) {
      form.add("audience", config.request().audience());
    }
    if (terms.resource() != null) {
      form.add("resource", terms.resource());
    }
    if (!config.request().scopes().isEmpty()) {
      form.add("scope", String.join(" ", config.request().scopes()));
    }
    return form;
  }

  private static BridgeException refused(ServerId server, Throwable failure) {
    return new BridgeException(
        failure instanceof TokenEndpoint.Refused
            ? ErrorCode.FORBIDDEN
            : ErrorCode.ISSUER_UNAVAILABLE,
        "No token for server '" + server + "': " + failure.getMessage());
  }
}
