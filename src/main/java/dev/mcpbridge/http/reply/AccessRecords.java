package dev.mcpbridge.http.reply;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.TimeUnit;

/**
 * Records in the audit trail who uses the bridge, and who is refused before there is a call: the
 * use of keys and tokens, refused ones, requests beyond the scopes of their caller, and log-ins.
 * Confined to the event loop.
 */
public final class AccessRecords {
  private static final long MINUTE = TimeUnit.MINUTES.toMillis(1);
  private static final long HOUR = TimeUnit.HOURS.toMillis(1);

  private final Bus bus;
  private final CountedRecords uses;
  private final CountedRecords refusedCredentials;
  private final CountedRecords refusedRequests;

  public AccessRecords(Vertx vertx, Bus bus) {
    this.bus = bus;
    this.uses = new CountedRecords(vertx, bus, "credential", "used", HOUR);
    this.refusedCredentials = new CountedRecords(vertx, bus, "credential", "refused", MINUTE);
    this.refusedRequests = new CountedRecords(vertx, bus, "request", "refused", MINUTE);
  }

  /** A request had a valid key or token. */
  public void used(RoutingContext ctx) {
    uses.add(new CountedRecords.Kind(Callers.of(ctx).name(), Callers.address(ctx), null));
  }

  /** A request had a key, a token or a code that is not valid. */
  public void refusedCredential(RoutingContext ctx) {
    refusedCredentials.add(new CountedRecords.Kind(null, Callers.address(ctx), null));
  }

  /** A log-in has failed; FORBIDDEN if the issuer has refused the code or its answer is wrong. */
  public void failedLogIn(RoutingContext ctx, Throwable failure) {
    if (BridgeException.of(failure).code() == ErrorCode.FORBIDDEN) {
      refusedCredential(ctx);
    }
  }

  /** A request was refused, since its caller lacks the scope of the route. */
  public void refusedRequest(RoutingContext ctx, String route) {
    refusedRequests.add(
        new CountedRecords.Kind(Callers.of(ctx).name(), Callers.address(ctx), route));
  }

  /** Records what was counted so far, before the trail is closed. */
  public Future<Void> finish() {
    uses.finish();
    refusedCredentials.finish();
    refusedRequests.finish();
    return Future.succeededFuture();
  }

  /**
   * A user has logged in or out at a page of the bridge.
   *
   * @param event {@code login} or {@code logout}
   */
  public void session(RoutingContext ctx, String event, String page, String principal) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            new AuditRecord(event)
                .with("principal", principal)
                .with("address", Callers.address(ctx))
                .with("page", page));
  }
}
