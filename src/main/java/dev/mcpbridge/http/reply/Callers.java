package dev.mcpbridge.http.reply;

import dev.mcpbridge.auth.Principal;
import io.vertx.ext.web.RoutingContext;

/** The principal behind a request: put there by the entry checks, read by the doors. */
public final class Callers {
  private static final String KEY = Callers.class.getName();

  private Callers() {}

  public static void set(RoutingContext ctx, Principal principal) {
    ctx.put(KEY, principal);
  }

  public static Principal of(RoutingContext ctx) {
    return ctx.get(KEY);
  }
}
