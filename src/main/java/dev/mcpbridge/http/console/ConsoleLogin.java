package dev.mcpbridge.http.console;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.Authenticator;
import dev.mcpbridge.auth.ConsoleSessions;
import dev.mcpbridge.auth.UserLogin;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.AccessRecords;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * /console/login and /console/session: what a browser has in place of an API key; and the log-in of
 * a person at the issuer of {@code auth.login} (authorization code with PKCE, RFC 7636). The page
 * keeps the secrets of the log-in, and the issuer sends the browser back to it; the bridge only
 * redeems the code, since it has the secret of the client. Confined to the event loop.
 */
public final class ConsoleLogin {
  private static final Pattern RANDOM = Pattern.compile("[A-Za-z0-9_-]{43}");
  private static final int MAX_BODY = 16 << 10;
  private static final int MAX_AT_ONCE = 32;
  private static final String PAGE = "console";

  private final Supplier<Authenticator> authenticator;
  private final ConsoleSessions sessions;
  private final AccessRecords records;
  private final Supplier<String> bridgeUrl;
  private final boolean isOn;
  private final Shares redemptions =
      new Shares(new Shares.Limit("log-ins", "", MAX_AT_ONCE, 1_000), () -> true);

  /**
   * @param bridgeUrl URL of the bridge, as browsers reach it
   * @param isOn whether there is a console
   */
  public ConsoleLogin(
      Supplier<Authenticator> authenticator,
      ConsoleSessions sessions,
      AccessRecords records,
      Supplier<String> bridgeUrl,
      boolean isOn) {
    this.authenticator = authenticator;
    this.sessions = sessions;
    this.records = records;
    this.bridgeUrl = bridgeUrl;
    this.isOn = isOn;
  }

  /** Sends the browser to the issuer; without a state, says which one it is. */
  public void begin(RoutingContext ctx) {
    requireConsole();
    String state = Queries.single(ctx, "state");
    if (state == null) {
      describe(ctx);
      return;
    }
    String challenge = Queries.single(ctx, "challenge");
    if (challenge == null || !isRandom(state) || !isRandom(challenge)) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "'state' and 'challenge' must have 43 characters");
    }
    login()
        .begin(new UserLogin.Page(page(), bridgeUrl.get()), state, challenge)
        .onSuccess(
            url ->
                ctx.response()
                    .putHeader("cache-control", "no-store")
                    .putHeader("referrer-policy", "no-referrer")
                    .putHeader("location", url)
                    .setStatusCode(303)
                    .end())
        .onFailure(ctx::fail);
  }

  private void describe(RoutingContext ctx) {
    String issuer = authenticator.get().login().map(UserLogin::issuerName).orElse(null);
    JsonWriter out = new JsonWriter().beginObject().member("issuer", issuer);
    ctx.response().putHeader("cache-control", "no-store");
    Replies.json(ctx, 200, out.member("page", page()).endObject());
  }

  /** Redeems the code for an access token, which the page sends from then on. */
  public void redeem(RoutingContext ctx) {
    requireConsole();
    String origin = ctx.request().getHeader("origin");
    if (!bridgeUrl.get().equals(origin)) {
      throw new BridgeException(
          ErrorCode.ORIGIN_NOT_ALLOWED, "The request was not sent by the page of this bridge");
    }
    JsonNode body = body(ctx.body().buffer());
    String verifier = body.path("verifier").asText();
    if (!body.path("code").isTextual() || !isRandom(verifier)) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "'code' and 'verifier' are required");
    }
    UserLogin login = login();
    String address = Callers.address(ctx);
    redemptions.acquire(address);
    login
        .token(
            new UserLogin.Page(page(), bridgeUrl.get()),
            body.path("code").textValue(),
            verifier,
            body.path("iss").textValue())
        .onComplete(done -> redemptions.release(address))
        .onSuccess(token -> loggedIn(ctx, token))
        .onFailure(failure -> records.failedLogIn(ctx, failure))
        .onFailure(ctx::fail);
  }

  private void loggedIn(RoutingContext ctx, String token) {
    authenticator
        .get()
        .authenticate(token, () -> Callers.address(ctx))
        .onSuccess(user -> records.session(ctx, "login", PAGE, user.principal().name()));
    sendToken(ctx, token);
  }

  /**
   * POST /console/session: a session for the key of the request. A caller with an access token, or
   * without a credential, gets none, since it needs none.
   */
  public void openSession(RoutingContext ctx) {
    requireConsole();
    Principal caller = Callers.of(ctx);
    String credential = Callers.bearer(ctx.request().headers());
    if (credential != null && ConsoleSessions.isLike(credential)) {
      throw new BridgeException(ErrorCode.FORBIDDEN, "A session opens no other session");
    }
    boolean hasKey = credential != null && caller.token() == null && !caller.isAnonymous();
    (hasKey ? opened(ctx, credential) : Future.<String>succeededFuture(null))
        .onSuccess(token -> sendToken(ctx, token))
        .onFailure(ctx::fail);
  }

  private Future<String> opened(RoutingContext ctx, String key) {
    return sessions
        .open(Sha256.of(key).bytes())
        .onSuccess(token -> records.session(ctx, "login", PAGE, Callers.of(ctx).name()));
  }

  /** DELETE /console/session: closes the session whose token the request has. */
  public void closeSession(RoutingContext ctx) {
    requireConsole();
    String credential = Callers.bearer(ctx.request().headers());
    if (credential == null || !ConsoleSessions.isLike(credential)) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "The credential is not that of a session");
    }
    sessions
        .close(credential)
        .onSuccess(closed -> records.session(ctx, "logout", PAGE, Callers.of(ctx).name()))
        .onSuccess(closed -> ctx.response().setStatusCode(204).end())
        .onFailure(ctx::fail);
  }

  private static void sendToken(RoutingContext ctx, String token) {
    ctx.response().putHeader("cache-control", "no-store");
    Replies.json(ctx, 200, new JsonWriter().beginObject().member("token", token).endObject());
  }

  private static JsonNode body(Buffer body) {
    try {
      if (body != null && body.length() <= MAX_BODY) {
        return Json.tree(body.getBytes());
      }
    } catch (IOException e) {
      // reported below
    }
    throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body must be a JSON object");
  }

  private void requireConsole() {
    if (!isOn) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "There is no console (http.console)");
    }
  }

  private UserLogin login() {
    return authenticator
        .get()
        .login()
        .orElseThrow(
            () -> new BridgeException(ErrorCode.NOT_FOUND, "No log-in is configured (auth.login)"));
  }

  private String page() {
    return bridgeUrl.get() + "/console";
  }

  private static boolean isRandom(String text) {
    return RANDOM.matcher(text).matches();
  }
}
