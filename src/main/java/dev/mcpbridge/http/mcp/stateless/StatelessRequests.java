package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.PostReplies;
import dev.mcpbridge.http.mcp.reply.PostReply;
import dev.mcpbridge.http.mcp.reply.RpcErrors;
import dev.mcpbridge.http.mcp.request.CatalogueChanges;
import dev.mcpbridge.http.mcp.request.Client;
import dev.mcpbridge.http.mcp.request.Endpoint;
import dev.mcpbridge.http.mcp.request.EndpointInfo;
import dev.mcpbridge.http.mcp.request.McpCalls;
import dev.mcpbridge.http.mcp.request.McpLists;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.http.mcp.request.ResourceSubscribers;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;

/**
 * The revision 2026-07-28: each request is independent, identifies its client in {@code _meta} and
 * headers, and is cancelled when its connection closes.
 */
public final class StatelessRequests {
  private static final byte[] RESULT_TYPE = "resultType".getBytes(StandardCharsets.US_ASCII);

  private final Map<String, Function<McpRequest, Future<JsonSlice>>> methods;
  private final EndpointInfo endpointInfo;
  private final PostReplies replies;
  private final CatalogueChanges changes;
  private final ResourceSubscribers subscribers;

  public StatelessRequests(
      McpCalls calls,
      EndpointInfo endpointInfo,
      PostReplies replies,
      CatalogueChanges changes,
      ResourceSubscribers subscribers) {
    this.methods =
        Map.of(
            McpMethod.DISCOVER,
            request -> Future.succeededFuture(discover(request)),
            McpMethod.TOOLS_LIST,
            request -> listResult(request, McpLists.tools(request)),
            McpMethod.PROMPTS_LIST,
            request -> listResult(request, McpLists.prompts(request)),
            McpMethod.RESOURCES_LIST,
            request -> listResult(request, McpLists.resources(request)),
            McpMethod.TEMPLATES_LIST,
            request -> listResult(request, McpLists.templates(request)),
            McpMethod.TOOLS_CALL,
            request -> calls.tool(request).map(StatelessRequests::complete),
            McpMethod.PROMPTS_GET,
            request -> calls.prompt(request).map(StatelessRequests::complete),
            McpMethod.RESOURCES_READ,
            request -> calls.resource(request).map(StatelessRequests::cacheable),
            McpMethod.COMPLETE,
            request -> calls.complete(request).map(StatelessRequests::complete));
    this.endpointInfo = endpointInfo;
    this.replies = replies;
    this.changes = changes;
    this.subscribers = subscribers;
  }

  /** Handles one message; errors in its metadata have an HTTP status of their own. */
  public void take(RoutingContext ctx, ClientMessage message, Endpoint endpoint) {
    if (message.isResponse()) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "Since 2026-07-28 responses must be sent in inputResponses");
    }
    if (!message.isRequest()) {
      ctx.response().setStatusCode(202).end();
      return;
    }
    StatelessMeta.check(message, ctx.request().headers());
    if (message.method().equals(McpMethod.LISTEN)) {
      endpoint
          .catalogue(message, Callers.of(ctx))
          .map(toolCatalogue -> listen(ctx, message, endpoint.selection(), toolCatalogue))
          .onFailure(failure -> RpcErrors.refuse(ctx, message.id(), failure));
    } else {
      Function<McpRequest, Future<JsonSlice>> method = methods.get(message.method());
      if (method == null) {
        throw RpcErrors.unknownMethod(message.method());
      }
      answer(ctx, message, endpoint, method);
    }
  }

  private SubscriptionStream listen(
      RoutingContext ctx, ClientMessage message, Selection endpoint, ToolCatalogue toolCatalogue) {
    Map<String, JsonSlice> requested = SubscriptionStream.requested(message);
    Caller caller = Callers.located(ctx, Caller.of(Callers.of(ctx)).withShare(Callers.share(ctx)));
    SubscriptionStream stream =
        new SubscriptionStream(replies.stream(ctx, Compressed.RESULTS), message.id(), requested);
    stream.subscribe(subscribers, toolCatalogue, caller);
    stream.follow(changes, endpoint, caller.principal());
    return stream;
  }

  private void answer(
      RoutingContext ctx,
      ClientMessage message,
      Endpoint endpoint,
      Function<McpRequest, Future<JsonSlice>> method) {
    Caller caller = Callers.caller(ctx);
    Client client = StatelessClient.of(message.meta());
    PostReply reply = replies.to(ctx);
    CancellationToken cancellation = new CancellationToken();
    reply.onDisconnect(() -> cancellation.cancel("The client has disconnected"));
    Span span = endpoint.begin(message).set(Conventions.MCP_VERSION, ProtocolVersion.STATELESS);
    CallSpans.until(
            endpoint
                .catalogue(message, caller.principal())
                .compose(
                    toolCatalogue -> {
                      ParamHeaders.check(message, toolCatalogue, ctx.request().headers());
                      return method.apply(
                          new McpRequest(
                              message, toolCatalogue, client, caller, reply, cancellation, span));
                    }),
            span)
        .onComplete(
            result -> reply.answer(message.id(), result),
            failure -> RpcErrors.answerStateless(reply, message, failure));
  }

  private JsonSlice discover(McpRequest request) {
    JsonWriter out =
        new JsonWriter(1024)
            .beginObject()
            .name("supportedVersions")
            .beginArray()
            .value(ProtocolVersion.STATELESS)
            .endArray();
    endpointInfo.write(
        out, request.toolCatalogue(), false, BridgePath.of(request.message().meta()));
    return withMeta(request.toolCatalogue(), cacheable(out.endObject().toSlice()));
  }

  private Future<JsonSlice> listResult(McpRequest request, JsonSlice list) {
    return Future.succeededFuture(withMeta(request.toolCatalogue(), cacheable(list)));
  }

  private JsonSlice withMeta(ToolCatalogue toolCatalogue, JsonSlice result) {
    JsonSlice meta = endpointInfo.statelessMeta(toolCatalogue);
    return new JsonWriter(result.length() + meta.length() + 16)
        .beginObject()
        .membersOf(result)
        .member("_meta", meta)
        .endObject()
        .toSlice();
  }

  /** Adds the {@code resultType} that results of servers of older revisions lack. */
  private static JsonSlice complete(JsonSlice result) {
    return result.mentions(RESULT_TYPE) && JsonObjects.members(result).containsKey("resultType")
        ? result
        : new JsonWriter(result.length() + 32)
            .beginObject()
            .member("resultType", "complete")
            .membersOf(result)
            .endObject()
            .toSlice();
  }

  /** Forbids caching of a result that has no caching members. */
  private static JsonSlice cacheable(JsonSlice result) {
    JsonSlice complete = complete(result);
    Map<String, JsonSlice> members = JsonObjects.members(complete);
    boolean requiresInput = "input_required".equals(JsonObjects.string(members.get("resultType")));
    if (requiresInput || members.containsKey("ttlMs")) {
      return complete;
    }
    return new JsonWriter(complete.length() + 48)
        .beginObject()
        .membersOf(complete)
        .member("ttlMs", 0)
        .member("cacheScope", "private")
        .endObject()
        .toSlice();
  }
}
