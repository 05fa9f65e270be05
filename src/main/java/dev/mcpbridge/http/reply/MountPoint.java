package dev.mcpbridge.http.reply;

import io.vertx.ext.web.RoutingContext;

/**
 * Where the routes of the bridge are: at the root of its own listener, or under a path in the
 * router of another program. Stateless.
 */
public final class MountPoint {
  private MountPoint() {}

  /** The path of a request below the mount point, not decoded. */
  public static String path(RoutingContext ctx) {
    String path = ctx.request().path();
    String prefix = prefix(ctx);
    return prefix.isEmpty() || path == null
        ? path
        : path.length() == prefix.length() ? "/" : path.substring(prefix.length());
  }

  /** What precedes the paths of the bridge, without a slash at its end; empty for the listener. */
  public static String prefix(RoutingContext ctx) {
    String mounted = ctx.mountPoint();
    if (mounted == null || mounted.length() <= 1) {
      return "";
    }
    return mounted.endsWith("/") ? mounted.substring(0, mounted.length() - 1) : mounted;
  }
}
