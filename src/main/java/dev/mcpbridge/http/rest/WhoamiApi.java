package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Function;

/**
 * GET /whoami: who the caller is to the bridge, and what it may use.
 *
 * @param agent describes the model that a caller may use; null without one
 */
public record WhoamiApi(
    AccessControl access,
    Cluster cluster,
    BridgeIdentity self,
    Function<RoutingContext, JsonSlice> agent) {
  public void show(RoutingContext ctx) {
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
    out.endArray();
    out.member("node", cluster.isAlone() ? null : cluster.name());
    out.member("version", self.version());
    JsonSlice offered = agent.apply(ctx);
    if (offered != null) {
      out.member("agent", offered);
    }
    if (access.policy().rules().restrict()) {
      writeServers(out, principal);
    }
    Replies.json(ctx, 200, out.endObject());
  }

  /** What the access rules let it list. */
  private void writeServers(JsonWriter out, Principal principal) {
    out.name("may_use").beginArray();
    for (ServerView server : access.all(principal)) {
      out.beginObject().member("server_id", server.id().name());
      if (server.isDiscovered()) {
        Catalogue listed = server.catalogue();
        out.name("tools").beginArray();
        listed.tools().keySet().forEach(out::value);
        out.endArray();
        names(out, "prompts", listed.prompts(), "name");
        names(out, "resources", listed.resources(), "uri");
        names(out, "resourceTemplates", listed.templates(), "uriTemplate");
      }
      out.endObject();
    }
    out.endArray();
  }

  private static void names(
      JsonWriter out, String member, List<JsonSlice> entries, String nameMember) {
    out.name(member).beginArray();
    entries.forEach(entry -> out.value(JsonObjects.members(entry).get(nameMember)));
    out.endArray();
  }
}
