package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.RequestSpan;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Tracer;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;

/**
 * What a path of the door offers: all servers, one or a profile, and all tools or the three of lean
 * discovery.
 *
 * @param carrier the span of the HTTP request
 * @param share of the caller, as in {@link dev.mcpbridge.model.Caller#share()}
 */
public record Endpoint(
    Selection selection,
    boolean isLean,
    CatalogueCache catalogues,
    Tracer tracer,
    Span carrier,
    String share) {

  /** Stands for the name of a method that the bridge does not have. */
  private static final String UNKNOWN = "unknown";

  /** The endpoint of a request. */
  public static Endpoint of(RoutingContext ctx, CatalogueCache catalogues, Tracer tracer) {
    return new Endpoint(
        Selections.of(ctx),
        Queries.isLean(ctx),
        catalogues,
        tracer,
        RequestSpan.of(ctx),
        Callers.share(ctx));
  }

  /** Begins the span of a request. */
  public Span begin(ClientMessage request) {
    boolean isSent = request.meta().containsKey(MetaKeys.TRACEPARENT);
    if (!tracer.isOn() || carrier == Span.NONE && !isSent) {
      return Span.NONE;
    }
    String method = McpMethod.isRequest(request.method()) ? request.method() : UNKNOWN;
    Span span =
        tracer.receive(
            CallSpans.name(method, target(request)),
            name -> JsonObjects.string(request.meta().get(name)),
            carrier,
            share);
    return span.isRecorded() && span != carrier
        ? span.set(Conventions.MCP_METHOD, method)
            .set(Conventions.RPC_ID, String.valueOf(request.id().text()))
            .set(Conventions.NETWORK_TRANSPORT, "tcp")
        : span;
  }

  /** The name of the tool or prompt; null for other requests. */
  private static String target(ClientMessage request) {
    boolean isNamed =
        McpMethod.TOOLS_CALL.equals(request.method())
            || McpMethod.PROMPTS_GET.equals(request.method());
    return isNamed ? JsonObjects.string(request.params().get("name")) : null;
  }

  /**
   * The catalogue for a request. Another bridge does not wait for starting servers: it may be one
   * of them.
   */
  public Future<ToolCatalogue> catalogue(ClientMessage request, Principal caller) {
    boolean isWaiting = selection.server() != null || BridgePath.of(request.meta()).isEmpty();
    Future<ToolCatalogue> whole =
        isWaiting
            ? catalogues.of(caller, selection)
            : Future.succeededFuture(selection).map(here -> catalogues.now(caller, here));
    return isLean ? whole.map(ToolCatalogue::lean) : whole;
  }
}
