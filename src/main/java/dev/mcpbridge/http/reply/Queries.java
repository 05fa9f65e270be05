package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** Reads the query of a request, strictly. */
public final class Queries {
  private Queries() {}

  /** One value of a parameter, null where it is absent. */
  public static String one(RoutingContext ctx, String name) {
    if (ctx.request().query() == null) {
      return null;
    }
    List<String> values = ctx.queryParam(name);
    if (values.size() > 1) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The parameter " + name + " was given twice");
    }
    return values.isEmpty() ? null : values.get(0);
  }

  /** Whether {@code discovery=search} asks for tools to find tools with. */
  public static boolean isLean(RoutingContext ctx) {
    String discovery = one(ctx, "discovery");
    if (discovery != null && !discovery.equals("all") && !discovery.equals("search")) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The parameter discovery is all or search");
    }
    return "search".equals(discovery);
  }

  /** {@code true} or {@code false}; absent is false. */
  public static boolean flag(RoutingContext ctx, String name) {
    String value = one(ctx, name);
    if (value != null && !value.equals("true") && !value.equals("false")) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The parameter " + name + " is true or false");
    }
    return "true".equals(value);
  }
}
