package dev.mcpbridge.http;

import dev.mcpbridge.auth.Identity;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Challenges;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The bridge as an OAuth protected resource (RFC 9728): each MCP endpoint is a resource of its own,
 * everything else is the bridge. Nothing is derived from the Host of a request. Immutable.
 *
 * @param ownUrl URL of the listener, for a bridge without a configured one
 */
record ProtectedResource(AuthConfig config, Supplier<String> ownUrl) {
  static final String METADATA = "/.well-known/oauth-protected-resource";

  private static final Pattern ENDPOINT =
      Pattern.compile("(/(servers|profiles)/[A-Za-z0-9._~%-]+)?/(mcp|sse)");
  private static final String LEAN = "discovery=search";

  /** The resource of all doors that are not MCP. */
  String bridge() {
    return config.publicUrl() == null ? ownUrl.get() : config.publicUrl();
  }

  boolean hasIssuers() {
    return !config.issuers().isEmpty();
  }

  /**
   * Requires that a credential is valid for the bridge, or for the endpoint that is requested.
   *
   * @throws BridgeException UNAUTHENTICATED
   */
  void requireAudience(Identity identity, RoutingContext ctx) {
    if (!identity.isForAll()
        && !identity.isFor(bridge())
        && !identity.isFor(bridge() + suffix(MountPoint.path(ctx), ctx.request().query()))) {
      throw Identity.wrongAudience();
    }
  }

  /** Path and query of an MCP endpoint; empty for everything else. */
  private static String suffix(String path, String query) {
    if (!path.endsWith("/mcp") && !path.endsWith("/sse") || !ENDPOINT.matcher(path).matches()) {
      return "";
    }
    return path.equals("/mcp") && LEAN.equals(query) ? path + "?" + LEAN : path;
  }

  /**
   * Serves the metadata of a resource, whether or not its server exists, to pages of any origin
   * too.
   */
  void describe(RoutingContext ctx) {
    ctx.response().putHeader("access-control-allow-origin", "*");
    HttpMethod method = ctx.request().method();
    if (method == HttpMethod.OPTIONS) {
      ctx.response()
          .putHeader("access-control-allow-methods", "GET")
          .putHeader("access-control-allow-headers", "accept,mcp-protocol-version")
          .setStatusCode(204)
          .end();
    } else if (method == HttpMethod.GET || method == HttpMethod.HEAD) {
      send(ctx);
    } else {
      throw new BridgeException(ErrorCode.METHOD_NOT_ALLOWED, "Method not allowed; use GET")
          .with("allow", "GET");
    }
  }

  private void send(RoutingContext ctx) {
    String path = MountPoint.path(ctx).substring(METADATA.length());
    String query = ctx.request().query();
    if (config.issuers().isEmpty() || !path.isEmpty() && suffix(path, query).isEmpty()) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "No such resource");
    }
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("resource", bridge() + suffix(path, query))
            .name("authorization_servers")
            .beginArray();
    config.issuers().forEach(issuer -> out.value(issuer.issuer()));
    out.endArray().name("scopes_supported").beginArray();
    basicScopes().forEach(out::value);
    out.endArray()
        .name("bearer_methods_supported")
        .beginArray()
        .value("header")
        .endArray()
        .member("resource_name", "MCP Bridge")
        .endObject();
    ctx.response().putHeader("cache-control", "max-age=3600");
    Replies.json(ctx, 200, out);
  }

  /** What a client needs to list and call, in the names of the issuers. */
  private Set<String> basicScopes() {
    Set<String> scopes = new LinkedHashSet<>();
    for (Scope scope : new Scope[] {Scope.READ, Scope.CALL}) {
      config.issuers().forEach(issuer -> scopes.add(issuer.grants().scopes().get(scope.apiName())));
    }
    return scopes;
  }

  /**
   * The challenge for a request (RFC 6750 section 3, RFC 9728 section 5.1).
   *
   * @param failure UNAUTHENTICATED, or INSUFFICIENT_SCOPE with what the request needs
   */
  String challenge(RoutingContext ctx, BridgeException failure) {
    StringBuilder challenge = new StringBuilder("Bearer ");
    if (failure.code() == ErrorCode.INSUFFICIENT_SCOPE) {
      challenge.append("error=\"insufficient_scope\", ");
    } else if (failure.members().containsKey(Challenges.CREDENTIALS)) {
      challenge.append("error=\"invalid_request\", ");
    } else if (failure.members().get("reason") instanceof String reason) {
      challenge
          .append("error=\"invalid_token\", error_description=\"")
          .append(reason)
          .append("\", ");
    }
    Object needed = failure.members().getOrDefault("scope", String.join(" ", basicScopes()));
    String suffix = suffix(MountPoint.path(ctx), ctx.request().query());
    if (MountPoint.prefix(ctx).isEmpty()) {
      challenge
          .append("resource_metadata=\"")
          .append(bridge())
          .append(METADATA)
          .append(suffix)
          .append("\", ");
    }
    return challenge.append("scope=\"").append(needed).append('"').toString();
  }
}
