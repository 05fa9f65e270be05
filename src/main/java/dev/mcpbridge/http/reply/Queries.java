package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** Reads query parameters strictly. */
public final class Queries {
  private Queries() {}

  /** The single value of a parameter; null if absent. */
  public static String single(RoutingContext ctx, String name) {
    if (ctx.request().query() == null) {
      return null;
    }
    List<String> values = ctx.queryParam(name);
    if (values.size() > 1) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The parameter " + name + " must be given only once");
    }
    return values.isEmpty() ? null : values.get(0);
  }

  /** Whether {@code discovery=search} requests lean discovery. */
  public static boolean isLean(RoutingContext ctx) {
    String discovery = single(ctx, "discovery");
    if (discovery != null && !discovery.equals("all") && !discovery.equals("search")) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The parameter discovery must be all or search");
    }
    return "search".equals(discovery);
  }

  /** Parses {@code true} or {@code false}; absent is false. */
  public static boolean flag(RoutingContext ctx, String name) {
    String value = single(ctx, name);
    if (value != null && !value.equals("true") && !value.equals("false")) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The parameter " + name + " must be true or false");
    }
    return "true".equals(value);
  }
}
