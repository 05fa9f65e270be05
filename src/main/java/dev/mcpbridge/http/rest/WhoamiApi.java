package dev.mcpbridge.http.rest;

import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** GET /whoami: who the caller is to the bridge, and what its credential allows. Stateless. */
public final class WhoamiApi {
  private WhoamiApi() {}

  public static void show(RoutingContext ctx) {
    Principal principal = Callers.of(ctx);
    JsonWriter out = new JsonWriter().beginObject().member("principal", principal.name());
    if (principal.token() != null) {
      out.member("issuer", principal.token().issuer()).member("client", principal.token().client());
      if (principal.token().expiresMillis() != Long.MAX_VALUE) {
        Instant expires = Instant.ofEpochMilli(principal.token().expiresMillis());
        out.member("expires_at", expires.truncatedTo(ChronoUnit.SECONDS).toString());
      }
    }
    out.name("roles").beginArray();
    principal.roles().stream().sorted().forEach(out::value);
    out.endArray().name("scopes").beginArray();
    principal.scopes().stream().sorted().map(Scope::apiName).forEach(out::value);
    Replies.json(ctx, 200, out.endArray().endObject());
  }
}
