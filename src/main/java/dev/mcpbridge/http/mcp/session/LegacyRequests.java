package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.PostReplies;
import dev.mcpbridge.http.mcp.reply.PostReply;
import dev.mcpbridge.http.mcp.reply.ReplyChannel;
import dev.mcpbridge.http.mcp.reply.RpcErrors;
import dev.mcpbridge.http.mcp.request.Endpoint;
import dev.mcpbridge.http.mcp.request.EndpointInfo;
import dev.mcpbridge.http.mcp.request.LogLevels;
import dev.mcpbridge.http.mcp.request.McpCalls;
import dev.mcpbridge.http.mcp.request.McpLists;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.http.mcp.request.ResourceSubscribers;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/**
 * The revisions with a handshake, 2024-11-05 to 2025-11-25, over Streamable HTTP: {@code
 * initialize} opens a session, POST sends messages, GET streams messages that belong to no request,
 * DELETE ends the session. A disconnect cancels nothing (basic/transports).
 */
public final class LegacyRequests {
  private static final String SESSION = "mcp-session-id";
  private static final String VERSION = "mcp-protocol-version";

  private final LegacySessions sessions;
  private final McpCalls calls;
  private final EndpointInfo endpointInfo;
  private final PostReplies replies;
  private final ResourceSubscribers subscribers;

  public LegacyRequests(
      LegacySessions sessions,
      McpCalls calls,
      EndpointInfo endpointInfo,
      PostReplies replies,
      ResourceSubscribers subscribers) {
    this.sessions = sessions;
    this.calls = calls;
    this.endpointInfo = endpointInfo;
    this.replies = replies;
    this.subscribers = subscribers;
  }

  /** Handles one message; a failure that it throws rejects the whole HTTP request. */
  public void handle(RoutingContext ctx, ClientMessage message, Endpoint endpoint) {
    if (message.isRequest() && message.method().equals(McpMethod.INITIALIZE)) {
      initialize(ctx, message, endpoint);
      return;
    }
    findSession(ctx, endpoint.selection())
        .map(
            session -> {
              Caller sender = sender(ctx, session);
              PostReply reply = message.isRequest() ? replies.to(ctx, session::begin) : null;
              handleInSession(session, sender, message, endpoint, reply);
              if (reply == null) {
                ctx.response().setStatusCode(202).end();
              }
              return session;
            })
        .onFailure(failure -> RpcErrors.refuse(ctx, message.id(), failure));
  }

  /**
   * Handles a batch, which only 2025-03-26 has.
   *
   * @param messages complete messages
   */
  public void handleBatch(RoutingContext ctx, List<ClientMessage> messages, Endpoint endpoint) {
    findSession(ctx, endpoint.selection())
        .map(session -> handleBatch(ctx, session, messages, endpoint))
        .onFailure(failure -> RpcErrors.refuse(ctx, null, failure));
  }

  private LegacySession handleBatch(
      RoutingContext ctx, LegacySession session, List<ClientMessage> messages, Endpoint endpoint) {
    if (session.record().version() != ProtocolVersion.V2025_03_26) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The body must be one message; batches need 2025-03-26");
    }
    List<ClientMessage> requests = messages.stream().filter(ClientMessage::isRequest).toList();
    if (requests.stream().anyMatch(request -> request.method().equals(McpMethod.INITIALIZE))) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "initialize must not be in a batch");
    }
    Caller sender = sender(ctx, session);
    BatchReply reply =
        requests.isEmpty()
            ? null
            : new BatchReply(replies.to(ctx, session::begin), requests.size());
    messages.forEach(message -> handleInSession(session, sender, message, endpoint, reply));
    if (requests.isEmpty()) {
      ctx.response().setStatusCode(202).end();
    }
    return session;
  }

  /** GET: opens the stream of a session, or resumes a broken one. */
  public void listen(RoutingContext ctx, Selection endpoint) {
    findSession(ctx, endpoint).map(session -> openStream(ctx, session)).onFailure(ctx::fail);
  }

  private LegacySession openStream(RoutingContext ctx, LegacySession session) {
    EventStream.require(ctx);
    String lastEventId = ctx.request().getHeader("last-event-id");
    if (lastEventId == null) {
      session.streams().listen(session.begin(replies.stream(ctx, Compressed.RESULTS)));
    } else {
      session.streams().resume(lastEventId).accept(replies.stream(ctx, Compressed.RESULTS));
    }
    return session;
  }

  /** DELETE: ends the session. */
  public void end(RoutingContext ctx, Selection endpoint) {
    findSession(ctx, endpoint)
        .onSuccess(sessions::end)
        .onSuccess(ended -> ctx.response().setStatusCode(204).end())
        .onFailure(ctx::fail);
  }

  private Future<LegacySession> findSession(RoutingContext ctx, Selection endpoint) {
    for (String version : ctx.request().headers().getAll(VERSION)) {
      if (ProtocolVersion.of(version).isEmpty()) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST, "MCP-Protocol-Version " + version + " is not supported");
      }
    }
    return sessions.find(
        ctx.request().getHeader(SESSION), Callers.of(ctx), Callers.share(ctx), endpoint);
  }

  private void initialize(RoutingContext ctx, ClientMessage message, Endpoint endpoint) {
    Future<Opened> opening = openSession(Callers.of(ctx), Callers.share(ctx), message, endpoint);
    PostReply reply = replies.whole(ctx);
    opening
        .onSuccess(opened -> ctx.response().putHeader(SESSION, opened.session().id()))
        .onSuccess(opened -> reply.answer(message.id(), opened.result()))
        .onFailure(failure -> RpcErrors.refuse(reply, message.id(), failure));
  }

  /** An opened session and its {@code initialize} result. */
  record Opened(LegacySession session, JsonSlice result) {}

  /** Opens a session. */
  Future<Opened> openSession(
      Principal principal, String share, ClientMessage message, Endpoint endpoint) {
    ProtocolVersion version =
        ProtocolVersion.of(message.required("protocolVersion")).orElse(ProtocolVersion.LATEST);
    JsonSlice capabilities =
        message.params().getOrDefault("capabilities", JsonSlice.EMPTY_OBJECT).detached();
    if (!capabilities.isObject()) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.capabilities must be an object");
    }
    SessionRecord record =
        new SessionRecord(principal.name(), endpoint.selection(), version, capabilities, "debug");
    return endpoint
        .catalogue(message, principal)
        .compose(
            toolCatalogue -> {
              JsonWriter out =
                  new JsonWriter().beginObject().member("protocolVersion", version.date());
              endpointInfo.write(out, toolCatalogue, true, BridgePath.of(message.meta()));
              JsonSlice result = out.endObject().toSlice();
              return sessions
                  .open(principal, share, record)
                  .map(session -> new Opened(session, result));
            });
  }

  /**
   * The caller of a session, with the rights of this request's credential, which another one may
   * have replaced meanwhile.
   */
  static Caller sender(RoutingContext ctx, LegacySession session) {
    return Callers.caller(ctx, session.caller().withPrincipal(Callers.of(ctx)));
  }

  /**
   * Handles a message of a session over either transport.
   *
   * @param sender the caller of its calls
   * @param reply null for a notification or a response
   */
  void handleInSession(
      LegacySession session,
      Caller sender,
      ClientMessage message,
      Endpoint endpoint,
      ReplyChannel reply) {
    if (!message.isRequest()) {
      sessions.handle(session, message);
      return;
    }
    CancellationToken cancellation = session.requestReceived(message);
    Span span =
        endpoint.begin(message).set(Conventions.MCP_VERSION, session.record().version().date());
    CallSpans.until(
            endpoint
                .catalogue(message, sender.principal())
                .compose(
                    toolCatalogue ->
                        result(
                            session,
                            new McpRequest(
                                message,
                                toolCatalogue,
                                session,
                                sender,
                                reply,
                                cancellation,
                                span))),
            span)
        .onComplete(done -> session.finished(message))
        .onComplete(
            result -> reply.answer(message.id(), LegacyResultMapper.of(result)),
            failure -> RpcErrors.answer(reply, message.id(), failure));
  }

  void end(LegacySession session) {
    sessions.end(session);
  }

  private Future<JsonSlice> result(LegacySession session, McpRequest request) {
    return switch (request.message().method()) {
      case McpMethod.PING -> Future.succeededFuture(JsonSlice.EMPTY_OBJECT);
      case McpMethod.SET_LEVEL -> setLevel(session, request);
      case McpMethod.TOOLS_LIST -> Future.succeededFuture(McpLists.tools(request));
      case McpMethod.PROMPTS_LIST -> Future.succeededFuture(McpLists.prompts(request));
      case McpMethod.RESOURCES_LIST -> Future.succeededFuture(McpLists.resources(request));
      case McpMethod.TEMPLATES_LIST -> Future.succeededFuture(McpLists.templates(request));
      case McpMethod.TOOLS_CALL -> calls.tool(request);
      case McpMethod.SUBSCRIBE -> subscribe(session, request);
      case McpMethod.UNSUBSCRIBE -> unsubscribe(session, request);
      case McpMethod.PROMPTS_GET -> calls.prompt(request);
      case McpMethod.RESOURCES_READ -> calls.resource(request);
      case McpMethod.COMPLETE -> calls.complete(request);
      default -> Future.failedFuture(RpcErrors.unknownMethod(request.message().method()));
    };
  }

  private Future<JsonSlice> setLevel(LegacySession session, McpRequest request) {
    String level = request.message().required("level");
    if (!LogLevels.isLevel(level)) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown log level: " + level);
    }
    return sessions.setLogLevel(session, level).map(JsonSlice.EMPTY_OBJECT);
  }

  private Future<JsonSlice> subscribe(LegacySession session, McpRequest request) {
    String uri = request.message().required("uri");
    Caller sender = request.caller();
    return subscribers
        .listen(
            request.toolCatalogue(),
            uri,
            session.caller().withOrigin(sender.door(), sender.address()),
            params -> sessions.resourceUpdated(session, params))
        .onSuccess(end -> session.subscribed(uri, end))
        .map(JsonSlice.EMPTY_OBJECT);
  }

  private static Future<JsonSlice> unsubscribe(LegacySession session, McpRequest request) {
    session.unsubscribed(request.message().required("uri"));
    return Future.succeededFuture(JsonSlice.EMPTY_OBJECT);
  }
}
