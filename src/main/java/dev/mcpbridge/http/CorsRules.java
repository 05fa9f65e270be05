package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.handler.CorsHandler;
import java.util.Set;

/** What pages of configured origins may send and read (Fetch standard, CORS protocol). */
final class CorsRules {
  private static final int MAX_AGE_SECONDS = 600;

  private CorsRules() {}

  /** Null if no origin is configured. */
  static CorsHandler of(HttpConfig config) {
    if (config.corsOrigins().isEmpty()) {
      return null;
    }
    CorsHandler cors = CorsHandler.create();
    config.corsOrigins().forEach(cors::addOrigin);
    return cors.allowedMethods(
            Set.of(HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.DELETE))
        .allowedHeaders(
            Set.of(
                "accept",
                "authorization",
                "content-type",
                "idempotency-key",
                "if-none-match",
                "last-event-id",
                "mcp-method",
                "mcp-name",
                "mcp-protocol-version",
                "mcp-session-id",
                "prefer",
                "x-api-key",
                "x-upstream-authorization"))
        .exposedHeaders(
            Set.of(
                "etag",
                "location",
                "mcp-session-id",
                "preference-applied",
                "ratelimit",
                "ratelimit-policy",
                "retry-after",
                "www-authenticate"))
        .maxAgeSeconds(MAX_AGE_SECONDS);
  }
}
