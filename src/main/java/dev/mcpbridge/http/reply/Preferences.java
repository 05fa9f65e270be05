package dev.mcpbridge.http.reply;

import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Prefer header: how a client wants to wait (RFC 7240). */
public final class Preferences {
  private static final CharSequence PREFER = HttpHeaders.createOptimized("prefer");
  private static final Pattern WAIT = Pattern.compile("(?:^|[,;\\s])wait\\s*=\\s*\"?(\\d{1,4})");
  private static final int MAX_WAIT_SECONDS = 3600;

  private Preferences() {}

  /** Whether it fetches the outcome later ({@code respond-async}). */
  public static boolean isAsync(RoutingContext ctx) {
    String prefer = ctx.request().getHeader(PREFER);
    return prefer != null && prefer.contains("respond-async");
  }

  /** How long it waits for a human ({@code wait=SECONDS}), in milliseconds; 0 if absent. */
  public static long waitMillis(RoutingContext ctx) {
    String prefer = ctx.request().getHeader(PREFER);
    Matcher wait = prefer == null ? null : WAIT.matcher(prefer);
    return wait != null && wait.find()
        ? 1000L * Math.min(MAX_WAIT_SECONDS, Integer.parseInt(wait.group(1)))
        : 0;
  }
}
