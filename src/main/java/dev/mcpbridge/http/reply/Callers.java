package dev.mcpbridge.http.reply;

import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The principal of a request: stored by the entry checks, read by the doors. */
public final class Callers {
  private static final String KEY = Callers.class.getName();
  private static final CharSequence AUTHORIZATION =
      HttpHeaders.createOptimized("x-upstream-authorization");
  private static final String BEARER = "Bearer ";
  private static final String TOKEN = KEY + ".token";
  private static final String SESSION = KEY + ".session";
  private static final int MAX_AUTHORIZATION = 16 << 10;

  private Callers() {}

  public static void set(RoutingContext ctx, Principal principal) {
    ctx.put(KEY, principal);
  }

  /** Stores the access token of the caller. */
  public static void setToken(RoutingContext ctx, String token) {
    ctx.put(TOKEN, token);
  }

  /**
   * Stores how to ask whether the session of the caller is open, for a credential that stands for
   * one.
   */
  public static void setSession(RoutingContext ctx, Supplier<Future<Boolean>> isOpen) {
    ctx.put(SESSION, isOpen);
  }

  /** Asks whether the session of the caller is open; empty if its credential stands for none. */
  static Optional<Supplier<Future<Boolean>>> session(RoutingContext ctx) {
    return Optional.ofNullable(ctx.get(SESSION));
  }

  public static Principal of(RoutingContext ctx) {
    return ctx.get(KEY);
  }

  /** The bearer credential of a request (RFC 6750 section 2.1); null without exactly one. */
  public static String bearer(MultiMap headers) {
    List<String> values = headers.getAll(HttpHeaders.AUTHORIZATION);
    return values.size() == 1 && values.get(0).regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? values.get(0).substring(BEARER.length())
        : null;
  }

  /** The principal as a reader or approver of confirmations. */
  public static Viewer viewer(RoutingContext ctx) {
    return viewer(of(ctx));
  }

  public static Viewer viewer(Principal principal) {
    return new Viewer(principal.name(), principal.may(Scope.APPROVE));
  }

  /** The caller, with the credential that it may have sent for an API behind the bridge. */
  public static Caller caller(RoutingContext ctx) {
    return caller(ctx, Caller.of(of(ctx)).withShare(share(ctx)));
  }

  /** An audit record of what the caller of a request does. */
  public static AuditRecord auditRecord(RoutingContext ctx, String event) {
    return new AuditRecord(event).with("principal", of(ctx).name()).with("address", address(ctx));
  }

  /**
   * A record of what the caller of a request has asked for.
   *
   * @param failure null if it was done
   */
  public static AuditRecord auditRequest(
      RoutingContext ctx, String event, String action, Throwable failure) {
    return auditRecord(ctx, event)
        .with("action", action)
        .with("code", failure == null ? null : BridgeException.of(failure).code().slug());
  }

  /** The address from which a request comes. */
  public static String address(RoutingContext ctx) {
    return ctx.request().connection().remoteAddress().hostAddress();
  }

  /** The key under which the request counts towards shared limits, as in {@link Caller#share()}. */
  public static String share(RoutingContext ctx) {
    Principal principal = of(ctx);
    return principal == Principal.ANONYMOUS ? address(ctx) : principal.name();
  }

  /**
   * A known caller with the credential and the token of this request.
   *
   * @throws BridgeException MALFORMED_REQUEST for an invalid credential
   */
  public static Caller caller(RoutingContext ctx, Caller known) {
    String token = ctx.get(TOKEN);
    Caller caller = located(ctx, token == null ? known : known.withToken(token));
    String authorization = ctx.request().getHeader(AUTHORIZATION);
    if (authorization == null) {
      return caller;
    }
    if (!isAuthorization(authorization)) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, AUTHORIZATION + " is not a valid Authorization value");
    }
    return caller.withAuthorization(authorization);
  }

  /** A known caller with the door and the address of this request. */
  public static Caller located(RoutingContext ctx, Caller known) {
    return known.withOrigin(door(ctx), address(ctx));
  }

  /** The door of a request, by its path. */
  private static String door(RoutingContext ctx) {
    String path = MountPoint.path(ctx);
    if (path.endsWith("/mcp") || path.endsWith("/sse")) {
      return "mcp";
    }
    boolean isToolcall =
        path.startsWith("/toolcall") || path.startsWith("/profiles/") && path.endsWith("/toolcall");
    return isToolcall ? "toolcall" : "rest";
  }

  /** Whether a text is a valid value of Authorization. */
  public static boolean isAuthorization(String text) {
    return !text.isBlank()
        && text.length() <= MAX_AUTHORIZATION
        && text.chars().allMatch(c -> c >= 0x20 && c < 0x7F);
  }
}
