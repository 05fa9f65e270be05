package dev.mcpbridge.http;

import dev.mcpbridge.auth.Authenticator;
import dev.mcpbridge.auth.ConsoleSessions;
import dev.mcpbridge.auth.Identity;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.AccessRecords;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Challenges;
import dev.mcpbridge.http.reply.Replies;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Authenticates the caller and requires a JSON body. Runs before routing, so it covers every route.
 * The media type check also keeps plain HTML forms of foreign pages from posting. Confined to the
 * event loop.
 */
final class CallerChecks {
  private static final CharSequence API_KEY = HttpHeaders.createOptimized("x-api-key");

  private final Vertx vertx;
  private final Supplier<String> ownUrl;
  private final ConsoleSessions sessions;
  private final AccessRecords records;
  private Authenticator authenticator;
  private ProtectedResource resource;

  /**
   * @param ownUrl URL of the listener
   */
  private CallerChecks(
      Vertx vertx,
      AuthConfig config,
      ConsoleSessions sessions,
      AccessRecords records,
      Supplier<String> ownUrl) {
    this.vertx = vertx;
    this.sessions = sessions;
    this.ownUrl = ownUrl;
    this.records = records;
    reload(config);
  }

  static CallerChecks of(
      Vertx vertx, HttpVerticle.Dependencies dependencies, Supplier<String> ownUrl) {
    return new CallerChecks(
        vertx,
        dependencies.config().auth(),
        new ConsoleSessions(
            dependencies.cluster().map("console-sessions"), System::currentTimeMillis),
        new AccessRecords(vertx, dependencies.bus()),
        ownUrl);
  }

  /** Replaces keys and issuers. */
  void reload(AuthConfig config) {
    authenticator = new Authenticator(vertx, config, sessions);
    resource = new ProtectedResource(config, ownUrl);
  }

  /**
   * @param config the present configuration
   */
  Identities identities(Supplier<BridgeConfig> config) {
    return new Identities(
        this::authenticator,
        sessions,
        records,
        config,
        () -> ownUrl.get() == null ? null : resource.bridge());
  }

  AccessRecords records() {
    return records;
  }

  Authenticator authenticator() {
    return authenticator;
  }

  ProtectedResource resource() {
    return resource;
  }

  /**
   * Identifies the caller of a request; the result is there at once, unless an issuer has to be
   * asked. If keys and issuers are replaced meanwhile, the new ones decide.
   *
   * @return fails as {@link Authenticator#authenticate}, with MALFORMED_REQUEST for more than one
   *     credential (RFC 6750 section 3.1), or with UNSUPPORTED_MEDIA_TYPE
   */
  Future<Void> check(RoutingContext ctx) {
    if (resource.hasIssuers()) {
      Challenges.set(ctx, resource::challenge);
    }
    int credentials = credentials(ctx.request().headers());
    if (credentials > 1) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.MALFORMED_REQUEST,
                  "A request has one credential, in Authorization or in X-API-Key")
              .with(Challenges.CREDENTIALS, credentials));
    }
    Authenticator asked = authenticator;
    String credential = credential(ctx.request().headers());
    Future<Identity> identified = asked.authenticate(credential, () -> Callers.address(ctx));
    if (!identified.isComplete()) {
      return identified.transform(
          answer -> asked == authenticator ? judged(ctx, credential, identified) : check(ctx));
    }
    return judged(ctx, credential, identified);
  }

  private Future<Void> judged(RoutingContext ctx, String credential, Future<Identity> identified) {
    if (credential != null && identified.failed()) {
      refused(ctx, identified.cause());
    }
    return identified.map(
        identity -> {
          resource.requireAudience(identity, ctx);
          Callers.set(ctx, identity.principal());
          if (credential != null) {
            records.used(ctx);
          }
          if (identity.principal().token() != null) {
            Callers.setToken(ctx, credential);
          } else if (credential != null && ConsoleSessions.isLike(credential)) {
            Callers.setSession(ctx, () -> sessions.isOpen(credential));
          }
          if (Replies.hasBody(ctx.request())) {
            checkMediaType(ctx.request());
          }
          return null;
        });
  }

  private void refused(RoutingContext ctx, Throwable failure) {
    if (BridgeException.of(failure).code() == ErrorCode.UNAUTHENTICATED) {
      records.refusedCredential(ctx);
    }
  }

  /** Whether a credential is required and the request has none. */
  boolean lacksRequiredKey(HttpServerRequest request) {
    MultiMap headers = request.headers();
    return !headers.contains(HttpHeaders.AUTHORIZATION)
        && !headers.contains(API_KEY)
        && authenticator.isRequired();
  }

  private static String credential(MultiMap headers) {
    String apiKey = headers.get(API_KEY);
    return apiKey == null ? Callers.bearer(headers) : apiKey;
  }

  private static int credentials(MultiMap headers) {
    return headers.getAll(HttpHeaders.AUTHORIZATION).size() + headers.getAll(API_KEY).size();
  }

  private static void checkMediaType(HttpServerRequest request) {
    List<String> types = request.headers().getAll(HttpHeaders.CONTENT_TYPE);
    String type = types.size() == 1 ? types.get(0) : null;
    if (!"application/json".equals(type) && !isJson(type)) {
      throw new BridgeException(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE, "The body must be application/json in UTF-8");
    }
    String coding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (coding != null && !coding.equalsIgnoreCase("identity")) {
      throw new BridgeException(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE, "The body must not be compressed");
    }
  }

  private static boolean isJson(String type) {
    if (type == null) {
      return false;
    }
    String[] parts = type.toLowerCase(Locale.ROOT).split(";", 2);
    String parameters = parts.length > 1 ? parts[1].replaceAll("[\\s\"]", "") : "";
    return parts[0].strip().equals("application/json")
        && (parameters.isEmpty() || parameters.equals("charset=utf-8"));
  }
}
