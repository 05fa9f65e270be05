package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.Supplier;

/**
 * The revisions with a handshake, 2024-11-05 to 2025-11-25, over Streamable HTTP: a session from
 * {@code initialize} on, POST for messages, GET for what belongs to no request, DELETE at the end.
 * A client that goes away cancels nothing (basic/transports).
 */
final class LegacyRequests {
  private static final String SESSION = "mcp-session-id";
  private static final String VERSION = "mcp-protocol-version";

  private final LegacySessions sessions;
  private final McpCalls calls;
  private final EndpointInfo endpointInfo;
  private final PostReplies replies;
  private final ResourceSubscribers watch;

  LegacyRequests(
      LegacySessions sessions,
      McpCalls calls,
      EndpointInfo endpointInfo,
      PostReplies replies,
      ResourceSubscribers watch) {
    this.sessions = sessions;
    sessions.onSaidElsewhere(this::heardElsewhere);
    this.calls = calls;
    this.endpointInfo = endpointInfo;
    this.replies = replies;
    this.watch = watch;
  }

  /** Takes one message; a failure that it throws is the whole request's. */
  void take(
      RoutingContext ctx,
      Inbound message,
      ServerId endpoint,
      Supplier<Future<ToolCatalogue>> offers) {
    if (McpMethod.INITIALIZE.equals(message.method()) && message.id() != null) {
      initialize(ctx, message, endpoint, offers);
      return;
    }
    session(ctx, endpoint)
        .map(session -> take(ctx, session, message, offers))
        .onFailure(failure -> McpDoor.refuse(ctx, message.id(), failure));
  }

  private LegacySession take(
      RoutingContext ctx,
      LegacySession session,
      Inbound message,
      Supplier<Future<ToolCatalogue>> offers) {
    Caller caller = Callers.caller(ctx, session.caller());
    ReplyChannel replyChannel = message.isRequest() ? replies.to(ctx, session) : null;
    converse(session, caller, message, offers, replyChannel);
    if (!message.isRequest()) {
      ctx.response().setStatusCode(202).end();
    }
    return session;
  }

  /**
   * Takes a batch, which only 2025-03-26 has.
   *
   * @param messages each a whole one
   */
  void takeBatch(
      RoutingContext ctx,
      List<Inbound> messages,
      ServerId endpoint,
      Supplier<Future<ToolCatalogue>> offers) {
    session(ctx, endpoint)
        .map(session -> takeBatch(ctx, session, messages, offers))
        .onFailure(failure -> McpDoor.refuse(ctx, null, failure));
  }

  private LegacySession takeBatch(
      RoutingContext ctx,
      LegacySession session,
      List<Inbound> messages,
      Supplier<Future<ToolCatalogue>> offers) {
    if (!session.takesBatches()) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The body must be one message; only 2025-03-26 has batches");
    }
    List<Inbound> requests = messages.stream().filter(Inbound::isRequest).toList();
    if (requests.stream().anyMatch(request -> request.method().equals(McpMethod.INITIALIZE))) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "initialize is not for a batch");
    }
    Caller caller = Callers.caller(ctx, session.caller());
    BatchReply reply =
        requests.isEmpty() ? null : new BatchReply(replies.to(ctx, session), requests.size());
    messages.forEach(message -> converse(session, caller, message, offers, reply));
    if (requests.isEmpty()) {
      ctx.response().setStatusCode(202).end();
    }
    return session;
  }

  /** GET: the stream of a session, or what is left of one that broke. */
  void listen(RoutingContext ctx, ServerId endpoint) {
    session(ctx, endpoint).map(session -> listen(ctx, session)).onFailure(ctx::fail);
  }

  private LegacySession listen(RoutingContext ctx, LegacySession session) {
    EventStream.require(ctx);
    String lastEventId = ctx.request().getHeader("last-event-id");
    if (lastEventId == null) {
      session.listen(session.begin(replies.stream(ctx)));
    } else {
      session.resume(lastEventId).accept(replies.stream(ctx));
    }
    return session;
  }

  /** DELETE: the end of a session. */
  void end(RoutingContext ctx, ServerId endpoint) {
    session(ctx, endpoint)
        .onSuccess(
            session -> {
              sessions.end(session);
              ctx.response().setStatusCode(204).end();
            })
        .onFailure(ctx::fail);
  }

  private Future<LegacySession> session(RoutingContext ctx, ServerId endpoint) {
    for (String version : ctx.request().headers().getAll(VERSION)) {
      if (ProtocolVersion.of(version).isEmpty()) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST,
            "MCP-Protocol-Version: " + version + " is not spoken here");
      }
    }
    return sessions.find(
        ctx.request().getHeader(SESSION), Callers.of(ctx), Callers.share(ctx), endpoint);
  }

  private void initialize(
      RoutingContext ctx,
      Inbound message,
      ServerId endpoint,
      Supplier<Future<ToolCatalogue>> offers) {
    Future<Opened> opening =
        introduce(Callers.of(ctx), Callers.share(ctx), message, endpoint, offers);
    PostReply reply = replies.whole(ctx);
    opening
        .onSuccess(
            opened -> {
              ctx.response().putHeader(SESSION, opened.session().id());
              reply.finish(200, RpcReplies.result(message.id(), opened.result()));
            })
        .onFailure(failure -> McpDoor.refuse(reply, message, failure));
  }

  /** A session that has been opened, and how it answers {@code initialize}. */
  record Opened(LegacySession session, JsonSlice result) {}

  /** Opens a session. */
  Future<Opened> introduce(
      Principal principal,
      String share,
      Inbound message,
      ServerId endpoint,
      Supplier<Future<ToolCatalogue>> offers) {
    ProtocolVersion version =
        ProtocolVersion.of(required(message, "protocolVersion")).orElse(ProtocolVersion.LATEST);
    JsonSlice capabilities = message.params().get("capabilities");
    if (capabilities != null && !capabilities.isObject()) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.capabilities must be an object");
    }
    return offers
        .get()
        .compose(
            toolCatalogue -> {
              JsonWriter result =
                  new JsonWriter().beginObject().member("protocolVersion", version.date());
              endpointInfo.write(result, toolCatalogue, true, BridgePath.of(message.meta()));
              JsonSlice introduction = result.endObject().toSlice();
              return sessions
                  .open(
                      new LegacySession.SessionParameters(
                          principal, share, endpoint, version, capabilities))
                  .map(session -> new Opened(session, introduction));
            });
  }

  /**
   * Takes a message of a session, whichever way it came.
   *
   * @param caller who its calls are made by
   */
  void converse(
      LegacySession session,
      Caller caller,
      Inbound message,
      Supplier<Future<ToolCatalogue>> offers,
      ReplyChannel replyChannel) {
    if (message.isAnswer()) {
      session.answered(message);
    } else if (message.isNotification()) {
      if (!notified(session, message)) {
        session.unknownHere(message);
      }
    } else {
      session.took(message);
      offers
          .get()
          .compose(
              toolCatalogue ->
                  result(new McpRequest(message, toolCatalogue, session, caller, replyChannel)))
          .onComplete(done -> session.finished(message))
          .onComplete(
              result ->
                  replyChannel.finish(
                      200, RpcReplies.result(message.id(), LegacyResultMapper.of(result))),
              failure ->
                  replyChannel.finish(
                      McpDoor.status(failure), McpDoor.error(message.id(), failure)));
    }
  }

  void end(LegacySession session) {
    sessions.end(session);
  }

  private Future<JsonSlice> result(McpRequest request) {
    return switch (request.message().method()) {
      case McpMethod.PING -> Future.succeededFuture(JsonSlice.EMPTY_OBJECT);
      case McpMethod.SET_LEVEL -> setLevel(request);
      case McpMethod.TOOLS_LIST -> Future.succeededFuture(McpLists.tools(request));
      case McpMethod.PROMPTS_LIST -> Future.succeededFuture(McpLists.prompts(request));
      case McpMethod.RESOURCES_LIST -> Future.succeededFuture(McpLists.resources(request));
      case McpMethod.TEMPLATES_LIST -> Future.succeededFuture(McpLists.templates(request));
      case McpMethod.TOOLS_CALL -> calls.tool(request);
      case McpMethod.SUBSCRIBE -> subscribe(request);
      case McpMethod.UNSUBSCRIBE -> unsubscribe(request);
      case McpMethod.PROMPTS_GET -> calls.prompt(request);
      case McpMethod.RESOURCES_READ -> calls.resource(request);
      case McpMethod.COMPLETE -> calls.complete(request);
      default -> Future.failedFuture(McpDoor.unknownMethod(request.message().method()));
    };
  }

  private static Future<JsonSlice> setLevel(McpRequest request) {
    String level = request.required("level");
    if (!LogLevels.isLevel(level)) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "No such level: " + level);
    }
    return ((LegacySession) request.client()).setLogLevel(level).map(JsonSlice.EMPTY_OBJECT);
  }

  private Future<JsonSlice> subscribe(McpRequest request) {
    String uri = request.required("uri");
    LegacySession session = (LegacySession) request.client();
    return watch
        .listen(request.resource(uri), uri, session.caller(), session::updated)
        .map(
            end -> {
              session.subscribed(uri, end);
              return JsonSlice.EMPTY_OBJECT;
            });
  }

  private static Future<JsonSlice> unsubscribe(McpRequest request) {
    ((LegacySession) request.client()).unsubscribed(request.required("uri"));
    return Future.succeededFuture(JsonSlice.EMPTY_OBJECT);
  }

  /** What a client said to another node. */
  private void heardElsewhere(LegacySession session, Inbound message) {
    if (message.isAnswer()) {
      session.takesAnswer(message);
    } else {
      notified(session, message);
    }
  }

  /** False where it concerns what is not known here. */
  private boolean notified(LegacySession session, Inbound message) {
    if (!McpMethod.CANCELLED.equals(message.method())) {
      return true;
    }
    JsonSlice requestId = message.params().get("requestId");
    if (requestId == null) {
      return true;
    }
    boolean isHere = session.cancelled(requestId);
    McpRequest.RunningCall runningCall = session.running(requestId);
    if (runningCall != null) {
      calls.cancel(runningCall, "The client has cancelled the request");
    }
    return isHere;
  }

  private static String required(Inbound message, String name) {
    String text = message.text(name);
    if (text == null) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params." + name + " must be a string");
    }
    return text;
  }
}
