package dev.mcpbridge.http.connect;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.Authenticator;
import dev.mcpbridge.auth.Identity;
import dev.mcpbridge.auth.UserLogin;
import dev.mcpbridge.call.ConsentTicket;
import dev.mcpbridge.call.ConsentTickets;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.AccessRecords;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.oauth.BridgeUrls;
import dev.mcpbridge.oauth.ClientMetadata;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;

/**
 * The consent page of a ticket, the redirect URIs of servers, and the client metadata of the
 * bridge. They need no credential: a ticket or a state is one. The browser has to prove that it is
 * used by the principal of the ticket, so that a link that was passed on connects no other user's
 * account (MCP basic/security best practices).
 */
public final class ConnectDoor {
  private final ConsentTickets tickets;
  private final Logins logins;
  private final Supplier<Authenticator> authenticator;
  private final AccessRecords records;
  private final Supplier<BridgeConfig> config;
  private final Supplier<String> bridgeUrl;
  private final EnteredCredentials entered;
  private final BrowserCookie cookie;

  /**
   * @param store of what is secret for some minutes
   * @param credentials that users enter
   * @param bridgeUrl URL of the bridge, as browsers reach it
   */
  public ConnectDoor(
      ConsentTickets tickets,
      CredentialStore store,
      UpstreamCredentials credentials,
      Supplier<Authenticator> authenticator,
      AccessRecords records,
      Supplier<BridgeConfig> config,
      Supplier<String> bridgeUrl) {
    this.tickets = tickets;
    this.logins = new Logins(store);
    this.authenticator = authenticator;
    this.records = records;
    this.config = config;
    this.bridgeUrl = bridgeUrl;
    this.entered = new EnteredCredentials(tickets, credentials, config);
    this.cookie = new BrowserCookie(bridgeUrl);
  }

  /** GET /connect/{ticket}: what the user is asked to agree to. */
  public void show(RoutingContext ctx) {
    tickets
        .ticket(ctx.pathParam("ticket"))
        .map(this::answerable)
        .onSuccess(ticket -> sendForm(ctx, 200, ticket, null))
        .onFailure(failure -> sendFailure(ctx, failure));
  }

  /** Fails for a user who cannot log in, before they enter anything. */
  private ConsentTicket answerable(ConsentTicket ticket) {
    if (ticket.issuer() != null) {
      login(ticket);
    }
    return ticket;
  }

  /**
   * POST /connect/{ticket}: the user agrees, and is sent to the authorization server, or has
   * entered a credential.
   */
  public void agree(RoutingContext ctx) {
    tickets
        .ticket(ctx.pathParam("ticket"))
        .compose(ticket -> agree(ctx, ticket))
        .onFailure(failure -> sendFailure(ctx, failure));
  }

  private Future<Void> agree(RoutingContext ctx, ConsentTicket ticket) {
    requireOwnForm(ctx, ticket);
    String credential =
        EnteredCredentials.authorization(ctx.request().getFormAttribute("credential"));
    if (credential == null && entered.source(ticket.server()) != null) {
      sendForm(ctx, 400, ticket, "That is not a credential that can be sent");
      return Future.succeededFuture();
    }
    Logins.Form form = new Logins.Form(ctx.pathParam("ticket"), ticket.formToken(), credential);
    String browser = cookie.secret(ctx);
    if (ticket.issuer() != null) {
      return logins
          .begin(login(ticket), redirectUri(), form, browser)
          .map(url -> redirect(ctx, url, browser));
    }
    return isPrincipal(ctx, ticket)
        .compose(
            isPrincipal -> {
              if (!isPrincipal) {
                tickets.record(ticket, "wrong_user");
                sendForm(ctx, 403, ticket, "That is not the key of " + ticket.principal());
                return Future.succeededFuture();
              }
              return connect(ctx, form, ticket, browser);
            });
  }

  /** Goes on for a user who has agreed and proved who they are. */
  private Future<Void> connect(
      RoutingContext ctx, Logins.Form form, ConsentTicket ticket, String browser) {
    return entered.source(ticket.server()) == null
        ? tickets.begin(form.ticket(), ticket, browser).map(url -> redirect(ctx, url, browser))
        : entered
            .keep(form.ticket(), ticket, form.credential())
            .map(kept -> sendConnected(ctx, ticket.server()));
  }

  private Void redirect(RoutingContext ctx, String url, String browser) {
    cookie.store(ctx, browser);
    ConsentPage.headers().forEach(ctx.response()::putHeader);
    ctx.response().putHeader("location", url).setStatusCode(303).end();
    return null;
  }

  /** The login of the principal's issuer. */
  private UserLogin login(ConsentTicket ticket) {
    return authenticator
        .get()
        .login()
        .filter(login -> login.isFor(ticket.issuer()))
        .orElseThrow(
            () ->
                new BridgeException(
                    ErrorCode.FORBIDDEN,
                    "Users of this issuer cannot log in at this bridge: its operator has to set"
                        + " auth.login"));
  }

  private String redirectUri() {
    return bridgeUrl.get() + "/oauth/callback";
  }

  /** GET /oauth/callback: the browser comes back from a login. */
  public void loggedIn(RoutingContext ctx) {
    String browser = cookie.stored(ctx);
    Future.succeededFuture(authenticator.get().login().orElse(null))
        .compose(
            login ->
                login == null
                    ? Future.failedFuture(new BridgeException(ErrorCode.NOT_FOUND, "No such page"))
                    : logins.complete(
                        login, only(ctx, "state"), only(ctx, "code"), only(ctx, "iss"), browser))
        .onFailure(failure -> records.failedLogIn(ctx, failure))
        .onSuccess(user -> records.session(ctx, "login", "consent", user.principal()))
        .compose(
            user ->
                tickets
                    .ticket(user.form().ticket())
                    .compose(ticket -> connect(ctx, user, ticket, browser)))
        .onFailure(failure -> sendFailure(ctx, failure));
  }

  /** A link that another user has passed on connects no account of this one. */
  private Future<Void> connect(
      RoutingContext ctx, Logins.LoggedIn user, ConsentTicket ticket, String browser) {
    if (!user.form().token().equals(ticket.formToken())) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN,
              "The server asks for something else meanwhile. Open the link again"));
    }
    if (user.principal().equals(ticket.principal())) {
      return connect(ctx, user.form(), ticket, browser);
    }
    tickets.record(ticket, "wrong_user");
    return Future.failedFuture(
        new BridgeException(
            ErrorCode.FORBIDDEN,
            "You are logged in as "
                + user.principal()
                + ", but this link is for another user. Nothing was connected"));
  }

  /** The form must come from the page itself, in the same browser. */
  private void requireOwnForm(RoutingContext ctx, ConsentTicket ticket) {
    HttpServerRequest request = ctx.request();
    boolean isOwnOrigin = bridgeUrl.get().equals(request.getHeader("origin"));
    if (!isOwnOrigin || !ticket.formToken().equals(request.getFormAttribute("form"))) {
      throw new BridgeException(
          ErrorCode.ORIGIN_NOT_ALLOWED, "The form was not sent by the page of this bridge");
    }
  }

  /** Whether the user of the browser is the principal of the ticket. */
  private Future<Boolean> isPrincipal(RoutingContext ctx, ConsentTicket ticket) {
    if (!config.get().auth().needsProof()) {
      return Future.succeededFuture(
          config.get().auth().isOfOneUser()
              || ticket.principal().equals(Principal.ANONYMOUS.name()));
    }
    String key = ctx.request().getFormAttribute("key");
    return authenticator
        .get()
        .authenticate(key, () -> Callers.address(ctx))
        .map(Identity::principal)
        .map(caller -> caller.name().equals(ticket.principal()))
        .otherwise(false);
  }

  private void sendForm(RoutingContext ctx, int status, ConsentTicket ticket, String problem) {
    ServerConfig entry = config.get().servers().get(ticket.server());
    URI url = entry == null ? null : entry.upstreamTarget().url();
    boolean asksForKey = config.get().auth().needsProof() && ticket.issuer() == null;
    ConsentPage.send(
        ctx,
        status,
        ConsentPage.form(
            "Let this bridge use " + ticket.server().name() + " in your name?",
            ConsentPage.facts(ticket, url),
            ticket.formToken(),
            entered.source(ticket.server()),
            asksForKey,
            problem),
        bridgeUrl.get().startsWith("https:") ? "https:" : "https: http:");
  }

  /** GET /oauth/callback/{server}: the browser comes back from the authorization server. */
  public void callback(RoutingContext ctx) {
    String server = ctx.pathParam("server");
    Future<ServerId> completed =
        ServerId.isValid(server)
            ? tickets.complete(
                new ServerId(server),
                new ConsentTickets.BrowserAnswer(
                    only(ctx, "state"),
                    only(ctx, "code"),
                    only(ctx, "iss"),
                    only(ctx, "error"),
                    cookie.stored(ctx)))
            : Future.failedFuture(new BridgeException(ErrorCode.NOT_FOUND, "No such page"));
    completed
        .onSuccess(connected -> sendConnected(ctx, connected))
        .onFailure(failure -> sendFailure(ctx, failure));
  }

  private static Void sendConnected(RoutingContext ctx, ServerId server) {
    String text =
        "This bridge may use %s in your name. You can close this page and repeat the call.";
    ConsentPage.send(ctx, 200, ConsentPage.message("Connected", text.formatted(server)), "");
    return null;
  }

  /** A parameter that is present exactly once; else null. */
  private static String only(RoutingContext ctx, String name) {
    List<String> values = ctx.queryParam(name);
    return values.size() == 1 ? values.get(0) : null;
  }

  /** GET /oauth/client.json: the metadata that identifies the bridge as a client. */
  public void describeClient(RoutingContext ctx) {
    List<String> servers =
        config.get().servers().values().stream()
            .filter(entry -> hasConsents(entry.upstreamTarget().oauth()))
            .map(entry -> entry.id().name())
            .toList();
    ObjectNode metadata = ClientMetadata.document(new BridgeUrls(bridgeUrl.get()), servers);
    ctx.response().putHeader("cache-control", "max-age=300");
    Replies.json(ctx, 200, Json.slice(metadata));
  }

  private static boolean hasConsents(OAuthConfig oauth) {
    return oauth != null && oauth.whose() == OAuthConfig.Whose.USER;
  }

  private static void sendFailure(RoutingContext ctx, Throwable failure) {
    BridgeException known = Problems.of(failure);
    ConsentPage.send(
        ctx, known.code().status(), ConsentPage.message("Not connected", known.getMessage()), "");
  }
}
