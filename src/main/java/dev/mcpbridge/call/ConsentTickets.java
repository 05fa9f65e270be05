package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.Pkce;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Consents;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.oauth.AuthorizationRequest;
import dev.mcpbridge.oauth.BridgeUrls;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The consents that callers are asked for. A call that needs one fails with a link to the consent
 * page, whose ticket is valid once, for ten minutes, for one principal and one server, at every
 * node. The secrets of links and states are stored by their digest only. Confined to the event
 * loop.
 */
public final class ConsentTickets {
  private static final long LIFETIME_MILLIS = TimeUnit.MINUTES.toMillis(10);
  private static final int MAX_REUSED = 10_000;

  private final Bus bus;
  private final CredentialStore store;
  private final Supplier<String> bridgeUrl;
  private final Predicate<Principal> canAgree;

  /** Links that were issued a short time ago, so that repeated calls do not issue more. */
  private final Map<Purpose, ConsentLink> recent = new BoundedMap<>(MAX_REUSED);

  private final ConsentWaiters waiters;

  private record Purpose(String principal, String client, ServerId server) {}

  /**
   * The answer that a browser brings back from an authorization server; absent parameters are null.
   *
   * @param browser what the bridge has stored in the browser
   */
  public record BrowserAnswer(
      String state, String code, String issuer, String error, String browser) {}

  /**
   * @param bridgeUrl URL of the bridge, as browsers reach it
   * @param canAgree whether a principal can prove in a browser who it is
   */
  public ConsentTickets(
      Vertx vertx,
      Bus bus,
      CredentialStore store,
      Supplier<String> bridgeUrl,
      Predicate<Principal> canAgree) {
    this.bus = bus;
    this.store = store;
    this.bridgeUrl = bridgeUrl;
    this.canAgree = canAgree;
    this.waiters = new ConsentWaiters(vertx);
    bus.subscribe(Consents.GIVEN, waiters::given);
  }

  /** Adds a link to the consent page to a failure that needs one. */
  <T> Future<T> explained(Principal principal, ServerId server, Throwable failure) {
    if (!(failure instanceof BridgeException refusal)
        || refusal.code() != ErrorCode.CONSENT_REQUIRED
        || refusal.members().containsKey("connect_url")) {
      return Future.failedFuture(failure);
    }
    return !canAgree.test(principal)
        ? Future.failedFuture(
            new BridgeException(
                ErrorCode.FORBIDDEN, refusal.getMessage() + ", which this caller cannot give"))
        : link(principal, server, (String) refusal.members().get("scope"))
            .compose(link -> Future.failedFuture(explained(refusal, link)));
  }

  private BridgeException explained(BridgeException refusal, ConsentLink link) {
    String url = new BridgeUrls(bridgeUrl.get()).connect(link.secret());
    BridgeException explained =
        new BridgeException(
            ErrorCode.CONSENT_REQUIRED,
            refusal.getMessage() + ". Open " + url + " in a browser, then repeat the call");
    for (Map.Entry<String, Object> member : refusal.members().entrySet()) {
      explained = explained.with(member.getKey(), member.getValue());
    }
    return explained.with("connect_url", url).with("connect_id", link.ticket().name());
  }

  /** One link for a caller and a server at a time, for everything that is asked for. */
  private Future<ConsentLink> link(Principal principal, ServerId server, String scope) {
    String client = principal.token() == null ? null : principal.token().client();
    Purpose purpose = new Purpose(principal.name(), client, server);
    ConsentLink known = recent.get(purpose);
    boolean isUsable =
        known != null
            && known.untilMillis() > System.currentTimeMillis()
            && store.known(ticketName(known.secret())).isPresent();
    String owner = known == null ? Pkce.random() : known.ticket().owner();
    ConsentLink link =
        isUsable ? known.asking(scope) : ConsentLink.issued(owner, principal, server, scope);
    if (link == known) {
      return Future.succeededFuture(known);
    }
    recent.put(purpose, link);
    return store.put(ticketName(link.secret()), link.ticket().json(), LIFETIME_MILLIS).map(link);
  }

  private static String ticketName(String secret) {
    return "ticket " + digest(secret);
  }

  /** One for each owner, so that no caller can fill the store with authorizations that it began. */
  private static String stateName(String state) {
    return "state " + ConsentTicket.owner(state);
  }

  private static String digest(String secret) {
    return Sha256.of(secret).hex();
  }

  /** The ticket of a link. Fails with NOT_FOUND if it is invalid, has expired or was used. */
  public Future<ConsentTicket> ticket(String secret) {
    return store
        .get(ticketName(secret))
        .map(
            kept -> {
              if (!kept.isPresent()) {
                throw invalid();
              }
              return ConsentTicket.of(Json.parsed(kept.text()));
            });
  }

  private static BridgeException invalid() {
    return new BridgeException(
        ErrorCode.NOT_FOUND,
        "This link has expired or was used already. Repeat the call to get another one");
  }

  /**
   * Uses a ticket, once its principal has proved who it is and agreed.
   *
   * @param secret of the link
   * @param browser a secret that only the browser of the user has
   * @return the URL at the authorization server
   */
  public Future<String> begin(String secret, ConsentTicket ticket, String browser) {
    String state = ticket.owner() + '.' + Pkce.random();
    return store
        .get(ticketName(secret))
        .compose(
            kept ->
                !kept.isPresent()
                    ? Future.failedFuture(invalid())
                    : bus.request(
                            Consents.begin(ticket.server()),
                            new Consents.Request(bridgeUrl.get(), state, ticket.scope()))
                        .compose(
                            begun ->
                                store
                                    .remove(ticketName(secret), kept.version())
                                    .compose(
                                        isMine -> pend(isMine, ticket, state, browser, begun))));
  }

  private Future<String> pend(
      boolean isMine, ConsentTicket ticket, String state, String browser, Consents.Begun begun) {
    if (!isMine) {
      return Future.failedFuture(invalid());
    }
    String pending =
        Json.object()
            .put("pending", begun.pending())
            .put("state", digest(state))
            .put("browser", digest(browser))
            .set("ticket", Json.parsed(ticket.json()))
            .toString();
    return store.put(stateName(state), pending, LIFETIME_MILLIS).map(begun.url());
  }

  /**
   * Completes an authorization. The state is valid once, in the browser where it began, and for the
   * redirect URI of its server.
   *
   * @return the server that the caller may use now
   */
  public Future<ServerId> complete(ServerId server, BrowserAnswer answer) {
    String state = String.valueOf(answer.state());
    String name = stateName(state);
    return store
        .get(name)
        .compose(
            kept -> {
              JsonNode pending = kept.isPresent() ? Json.parsed(kept.text()) : null;
              boolean isOfBrowser =
                  pending != null
                      && answer.browser() != null
                      && pending.path("state").asText().equals(digest(state))
                      && pending.path("browser").asText().equals(digest(answer.browser()));
              if (!isOfBrowser
                  || !ConsentTicket.of(pending.path("ticket")).server().equals(server)) {
                return Future.failedFuture(
                    new BridgeException(
                        ErrorCode.MALFORMED_REQUEST,
                        "This answer belongs to no authorization that began in this browser"));
              }
              return store
                  .remove(name, kept.version())
                  .compose(
                      isMine -> isMine ? redeem(pending, answer) : Future.failedFuture(invalid()));
            });
  }

  private Future<ServerId> redeem(JsonNode stored, BrowserAnswer answer) {
    ConsentTicket ticket = ConsentTicket.of(stored.path("ticket"));
    String pending = stored.path("pending").asText();
    if (!AuthorizationRequest.isAnsweredBy(pending, answer.issuer())) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN, "The answer comes from another authorization server"));
    }
    if (answer.error() != null || answer.code() == null) {
      record(ticket, "refused");
      return Future.failedFuture(
          new BridgeException(ErrorCode.FORBIDDEN, "Access was not granted"));
    }
    return bus.request(
            Consents.redeem(ticket.server()),
            new Consents.Answer(ticket.principal(), ticket.clientName(), pending, answer.code()))
        .onFailure(failed -> record(ticket, "failed"))
        .compose(server -> given(ticket).map(server));
  }

  /** Uses a ticket, without an authorization server. Fails with NOT_FOUND if it was used. */
  public Future<Void> use(String secret) {
    return store
        .get(ticketName(secret))
        .compose(
            kept ->
                kept.isPresent()
                    ? store.remove(ticketName(secret), kept.version())
                    : Future.succeededFuture(false))
        .compose(isMine -> isMine ? Future.succeededFuture() : Future.failedFuture(invalid()));
  }

  /** Tells those who wait that the caller may use the server now. */
  public Future<Void> given(ConsentTicket ticket) {
    return store
        .put("given " + ticket.owner(), ticket.name(), LIFETIME_MILLIS)
        .onSuccess(stored -> bus.publish(Consents.GIVEN, ticket.name()))
        .onSuccess(stored -> record(ticket, "granted"));
  }

  /** Records in the audit trail what has come of a ticket. */
  public void record(ConsentTicket ticket, String outcome) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            new AuditRecord("consent")
                .with("principal", ticket.principal())
                .with("client", ticket.client())
                .with("server", ticket.server().name())
                .with("scope", ticket.scope())
                .with("outcome", outcome));
  }

  /**
   * Waits until the consent of a ticket is given.
   *
   * @return whether it was given in time
   */
  public Future<Boolean> await(String name, long millis) {
    return name.equals(store.known("given " + ConsentTicket.owner(name)).text())
        ? Future.succeededFuture(true)
        : waiters.await(name, millis);
  }
}
