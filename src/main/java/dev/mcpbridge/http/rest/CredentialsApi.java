package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Consents;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Predicate;

/**
 * The caller's own credential for a server, used for that caller's calls only.
 *
 * @param grantsAccess whether callers grant the bridge access to a server
 */
public record CredentialsApi(
    Bus bus,
    AccessControl access,
    UpstreamCredentials credentials,
    Predicate<ServerId> grantsAccess,
    int maxDepth) {
  private static final long DEFAULT_SECONDS = 3_600;
  private static final long MAX_SECONDS = 86_400;

  /** PUT /servers/{server}/credentials. */
  public void put(RoutingContext ctx) {
    JsonNode body = Paths.arguments(ctx, maxDepth).tree();
    String authorization = body.path("authorization").asText("");
    long seconds = body.path("expiresIn").asLong(DEFAULT_SECONDS);
    if (!body.path("authorization").isTextual()
        || !Callers.isAuthorization(authorization)
        || seconds < 1
        || seconds > MAX_SECONDS) {
      throw new BridgeException(
          ErrorCode.INVALID_ARGUMENTS,
          "Expected {\"authorization\": \"Bearer …\", \"expiresIn\": 1 to " + MAX_SECONDS + "}");
    }
    ServerId server = Paths.server(ctx);
    access
        .find(Callers.of(ctx), server)
        .compose(
            view -> credentials.put(Callers.of(ctx).name(), server, authorization, seconds * 1_000))
        .onSuccess(stored -> answer(ctx, server, "put"))
        .onFailure(ctx::fail);
  }

  private void answer(RoutingContext ctx, ServerId server, String action) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            Callers.auditRecord(ctx, "server.credential")
                .with("server", server.name())
                .with("action", action));
    ctx.response().setStatusCode(204).end();
  }

  /** DELETE /servers/{server}/credentials. */
  public void delete(RoutingContext ctx) {
    ServerId server = Paths.server(ctx);
    String caller = Callers.of(ctx).name();
    credentials
        .remove(caller, server)
        .compose(
            removed ->
                grantsAccess.test(server)
                    ? bus.request(Consents.forget(server), caller)
                    : Future.succeededFuture(server))
        .onSuccess(removed -> answer(ctx, server, "delete"))
        .onFailure(ctx::fail);
  }
}
