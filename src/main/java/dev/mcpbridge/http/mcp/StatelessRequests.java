package dev.mcpbridge.http.mcp;

import dev.mcpbridge.call.Offer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.protocol.Via;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The revision 2026-07-28: each request stands for itself, says who speaks in {@code _meta} and in
 * its headers, and is given up by whoever closes its connection.
 */
final class StatelessRequests {
  private static final byte[] RESULT_TYPE = "resultType".getBytes(StandardCharsets.US_ASCII);
  private static final Set<Integer> ENVELOPE = Set.of(-32020, -32021, -32022);

  private final McpCalls calls;
  private final Introductions introductions;
  private final PostReplies replies;
  private final Subscriptions subscriptions;

  StatelessRequests(
      McpCalls calls,
      Introductions introductions,
      PostReplies replies,
      Subscriptions subscriptions) {
    this.calls = calls;
    this.introductions = introductions;
    this.replies = replies;
    this.subscriptions = subscriptions;
  }

  /** Takes one message; answers with a status of its own for what is wrong with the envelope. */
  void take(
      RoutingContext ctx, Inbound message, ServerId endpoint, Supplier<Future<Offer>> offers) {
    if (message.isAnswer()) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "Answers travel in inputResponses since 2026-07-28");
    }
    if (message.isNotification()) {
      ctx.response().setStatusCode(202).end();
      return;
    }
    StatelessMeta.check(message, ctx.request().headers());
    if (!StatelessMeta.knows(message.method())) {
      throw McpDoor.unknownMethod(message.method());
    }
    if (message.method().equals(McpMethod.LISTEN)) {
      offers
          .get()
          .onSuccess(offer -> subscriptions.open(ctx, message, endpoint, offer))
          .onFailure(failure -> McpDoor.refuse(replies.to(ctx), message, failure));
    } else {
      answer(ctx, message, offers);
    }
  }

  private void answer(RoutingContext ctx, Inbound message, Supplier<Future<Offer>> offers) {
    Caller caller = Callers.caller(ctx);
    StatelessClient client = new StatelessClient(Callers.of(ctx), message.meta());
    PostReply reply = replies.to(ctx);
    reply.onLeave(() -> giveUp(client));
    offers
        .get()
        .compose(
            offer -> {
              ParamHeaders.check(message, offer, ctx.request().headers());
              return result(new McpRequest(message, offer, client, caller, reply));
            })
        .onComplete(
            result -> reply.finish(200, RpcReplies.result(message.id(), result)),
            failure -> reply.finish(status(failure), error(message, failure)));
  }

  private void giveUp(StatelessClient client) {
    McpRequest.Running running = client.left();
    if (running != null) {
      calls.cancel(running, "The client has left");
    }
  }

  private Future<JsonSlice> result(McpRequest request) {
    return switch (request.message().method()) {
      case McpMethod.DISCOVER -> Future.succeededFuture(discover(request));
      case McpMethod.TOOLS_LIST -> listed(request, McpLists.tools(request));
      case McpMethod.PROMPTS_LIST -> listed(request, McpLists.prompts(request));
      case McpMethod.RESOURCES_LIST -> listed(request, McpLists.resources(request));
      case McpMethod.TEMPLATES_LIST -> listed(request, McpLists.templates(request));
      case McpMethod.TOOLS_CALL -> calls.tool(request).map(StatelessRequests::complete);
      case McpMethod.PROMPTS_GET -> calls.prompt(request).map(StatelessRequests::complete);
      case McpMethod.RESOURCES_READ -> calls.resource(request).map(StatelessRequests::cacheable);
      case McpMethod.COMPLETE -> calls.complete(request).map(StatelessRequests::complete);
      default -> Future.failedFuture(McpDoor.unknownMethod(request.message().method()));
    };
  }

  private JsonSlice discover(McpRequest request) {
    JsonWriter out =
        new JsonWriter(1024)
            .beginObject()
            .name("supportedVersions")
            .beginArray()
            .value(ProtocolVersion.STATELESS)
            .endArray();
    introductions.write(out, request.offer(), false, Via.of(request.message().meta()));
    return introduced(request.offer(), cacheable(out.endObject().toSlice()));
  }

  private Future<JsonSlice> listed(McpRequest request, JsonSlice list) {
    return Future.succeededFuture(introduced(request.offer(), cacheable(list)));
  }

  private JsonSlice introduced(Offer offer, JsonSlice result) {
    JsonSlice meta = introductions.statelessMeta(offer);
    return new JsonWriter(result.length() + meta.length() + 16)
        .beginObject()
        .membersOf(result)
        .member("_meta", meta)
        .endObject()
        .toSlice();
  }

  /**
   * Every result says of which type it is; one of a server that is older than the rule does not.
   */
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

  /** What a server that knows no caching says may be kept by nobody and for no time. */
  private static JsonSlice cacheable(JsonSlice result) {
    JsonSlice complete = complete(result);
    Map<String, JsonSlice> members = JsonObjects.members(complete);
    boolean asks = "input_required".equals(JsonObjects.string(members.get("resultType")));
    if (asks || members.containsKey("ttlMs")) {
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

  private static int status(Throwable failure) {
    BridgeException known = Problems.of(failure);
    return switch (known.code()) {
      case METHOD_NOT_FOUND -> 404;
      case FORBIDDEN -> 403;
      default -> ENVELOPE.contains(StatelessErrors.code(known)) ? 400 : 200;
    };
  }

  private static JsonSlice error(Inbound message, Throwable failure) {
    return RpcReplies.error(message.id(), StatelessErrors.of(message, Problems.of(failure)));
  }
}
