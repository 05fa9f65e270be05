package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Optional;

/** Reads {@code Idempotency-Key} (draft-ietf-httpapi-idempotency-key-header-07). */
public final class IdempotencyHeader {
  private static final int MAX = 255;
  private static final CharSequence NAME = HttpHeaders.createOptimized("idempotency-key");

  private IdempotencyHeader() {}

  public static Optional<String> of(RoutingContext ctx) {
    List<String> values = ctx.request().headers().getAll(NAME);
    if (values.isEmpty()) {
      return Optional.empty();
    }
    String key = values.get(0).strip();
    boolean isPrintable = key.chars().allMatch(c -> c > 0x20 && c < 0x7F);
    if (values.size() > 1 || key.isEmpty() || key.length() > MAX || !isPrintable) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST,
          "Idempotency-Key must be one value of 1 to " + MAX + " printable characters");
    }
    return Optional.of(key);
  }
}
