package dev.mcpbridge.http.connect;

import dev.mcpbridge.auth.Pkce;
import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Supplier;

/**
 * A secret that only the browser of a user has.
 *
 * @param bridgeUrl URL of the bridge, as browsers reach it
 */
record BrowserCookie(Supplier<String> bridgeUrl) {
  private static final int SECONDS = 600;

  /** Null if the browser has none. */
  String stored(RoutingContext ctx) {
    Cookie cookie = ctx.request().getCookie(name());
    return cookie == null ? null : cookie.getValue();
  }

  /** The one that the browser has already is kept, for its other tabs. */
  String secret(RoutingContext ctx) {
    String stored = stored(ctx);
    return stored != null && stored.matches("[A-Za-z0-9_-]{43}") ? stored : Pkce.random();
  }

  void store(RoutingContext ctx, String secret) {
    ctx.response()
        .addCookie(
            Cookie.cookie(name(), secret)
                .setPath("/")
                .setHttpOnly(true)
                .setSecure(isSecure())
                .setSameSite(CookieSameSite.LAX)
                .setMaxAge(SECONDS));
  }

  private boolean isSecure() {
    return bridgeUrl.get().startsWith("https:");
  }

  private String name() {
    return isSecure() ? "__Host-mcpb" : "mcpb";
  }
}
