package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.ext.web.RoutingContext;
import java.util.function.BiFunction;

/** The header WWW-Authenticate of responses to requests that need another credential. */
public final class Challenges {
  private static final String KEY = Challenges.class.getName();

  /**
   * The member of a failure with the number of credentials that a request had, if more than one.
   */
  public static final String CREDENTIALS = "credentials";

  private static final String WITHOUT_ISSUER = "Bearer";

  private Challenges() {}

  /** Sets what makes the challenge of a request, for a bridge that accepts access tokens. */
  public static void set(
      RoutingContext ctx, BiFunction<RoutingContext, BridgeException, String> challenge) {
    ctx.put(KEY, challenge);
  }

  /** Adds the header if another credential would help. */
  public static void add(RoutingContext ctx, BridgeException failure) {
    boolean helps =
        failure.code() == ErrorCode.UNAUTHENTICATED
            || failure.code() == ErrorCode.INSUFFICIENT_SCOPE
            || failure.members().containsKey(CREDENTIALS);
    if (helps && !ctx.response().headWritten()) {
      BiFunction<RoutingContext, BridgeException, String> challenge = ctx.get(KEY);
      ctx.response()
          .putHeader(
              "www-authenticate",
              challenge == null ? WITHOUT_ISSUER : challenge.apply(ctx, failure));
    }
  }
}
