package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MirroredHeaders;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import dev.mcpbridge.protocol.SseReader;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Streamable HTTP in both eras (basic/transports): one POST per message, answered by a JSON object
 * or an event stream. With a handshake there is a session, a standalone stream for messages of no
 * request, and resumption of broken streams; the connection ends when the server drops the session.
 * Without, each request carries its headers, and closing its response cancels it.
 */
public final class StreamableHttpTransport implements Transport {
  private static final long DEFAULT_RETRY_MILLIS = 1_000;
  private static final long MAX_RETRY_MILLIS = 30_000;
  private static final int MAX_RESUMPTIONS = 5;
  private static final long TIMEOUT_MILLIS = 10_000;
  private static final Set<Integer> FALLBACK_STATUSES = Set.of(400, 404, 405);

  private final Context context;
  private final HttpPeer peer;
  private final StdioTransport.Limits limits;
  private final RpcReader reader;
  private final TransportListener listener;
  private final MirroredHeaders mirrored = new MirroredHeaders();
  private final Map<Long, ClientResponse> streams = new HashMap<>();
  private final Map<Long, PendingRequest> unanswered = new HashMap<>();
  private final Set<Long> subscriptions = new HashSet<>();
  private Transport sseFallback;
  private ClientResponse standaloneStream;
  private String session;
  private String version;
  private long reopenDelay = DEFAULT_RETRY_MILLIS;
  private boolean closed;

  StreamableHttpTransport(
      Context context, HttpPeer peer, StdioTransport.Limits limits, TransportListener listener) {
    this.context = context;
    this.peer = peer;
    this.limits = limits;
    this.reader = new RpcReader(limits.maxDepth());
    this.listener = listener;
  }

  @Override
  public long send(byte[] line) {
    if (sseFallback != null) {
      return sseFallback.send(line);
    }
    OutgoingMessage out = OutgoingMessage.of(reader, line);
    if (out.is(McpMethod.CANCELLED)) {
      cancel(out);
    }
    if (out.is(McpMethod.LISTEN)) {
      subscriptions.add(out.id());
      subscribe(out, DEFAULT_RETRY_MILLIS);
    } else if (!out.is(McpMethod.CANCELLED) || version != null) {
      post(out);
    }
    return 0;
  }

  @Override
  public Future<Void> close() {
    boolean wasOpen = !closed;
    Future<Void> ended =
        wasOpen && session != null
            ? peer.delete(peer.url(), sessionHeaders()).otherwiseEmpty()
            : Future.succeededFuture();
    end("stopped");
    Future<Void> sseEnded = sseFallback == null ? Future.succeededFuture() : sseFallback.close();
    return Future.any(ended, context.owner().timer(1_000).<Void>mapEmpty())
        .compose(done -> sseEnded)
        .compose(done -> peer.close())
        .otherwiseEmpty();
  }

  private void post(OutgoingMessage out) {
    begin(out)
        .onComplete(
            clientResponse -> handleResponse(out, clientResponse),
            failure -> ConnectFailures.reportLost(listener, out.id(), failure));
  }

  /** Posts a message. A request has no timeout here and can be cancelled; others time out. */
  private Future<ClientResponse> begin(OutgoingMessage out) {
    PendingRequest pendingRequest = peer.post(peer.url(), out.line(), headers(out));
    if (out.id() >= 0) {
      unanswered.put(out.id(), pendingRequest);
    } else {
      pendingRequest.cancelAfter(context.owner(), TIMEOUT_MILLIS);
    }
    return pendingRequest
        .response()
        .onComplete(done -> unanswered.remove(out.id(), pendingRequest));
  }

  /** Opens a subscription's stream; it is reopened whenever it ends, until the connection ends. */
  private void subscribe(OutgoingMessage out, long delay) {
    if (closed || !subscriptions.contains(out.id())) {
      return;
    }
    long next = Math.min(MAX_RETRY_MILLIS, delay * 2);
    begin(out)
        .onSuccess(
            clientResponse -> {
              if (clientResponse.isStream() && clientResponse.response().statusCode() == 200) {
                stream(out, clientResponse, 0);
              } else {
                body(out, clientResponse)
                    .onComplete(
                        body -> refusedSubscription(out, body, next),
                        broken -> subscribeIn(delay, out, next));
              }
            })
        .onFailure(failure -> subscribeIn(delay, out, next));
  }

  /** A JSON-RPC response is final; after an HTTP status alone the subscription is retried. */
  private void refusedSubscription(OutgoingMessage out, Buffer body, long next) {
    RpcMessage message = body.length() == 0 ? null : message(body.getBytes());
    if (message != null && message.numericId() == out.id()) {
      subscriptions.remove(out.id());
      listener.messages(List.of(message));
    } else {
      subscribeIn(next, out, next);
    }
  }

  private void subscribeIn(long delay, OutgoingMessage out, long next) {
    context.owner().setTimer(delay, t -> subscribe(out, next));
  }

  private void handleResponse(OutgoingMessage out, ClientResponse clientResponse) {
    int status = clientResponse.response().statusCode();
    if (status == 404 && session != null) {
      endSession(out);
    } else if (clientResponse.isStream() && status == 200) {
      stream(out, clientResponse, 0);
    } else {
      body(out, clientResponse)
          .onSuccess(body -> handleBody(out, clientResponse, body))
          .onFailure(failure -> ConnectFailures.reportLost(listener, out.id(), failure));
    }
  }

  /** Reads a body; aborted with its request, or after a timeout if no request waits for it. */
  private Future<Buffer> body(OutgoingMessage out, ClientResponse clientResponse) {
    Future<Buffer> body = clientResponse.body(limits.maxMessageBytes());
    if (out.id() >= 0) {
      streams.put(out.id(), clientResponse);
      body.onComplete(read -> streams.remove(out.id(), clientResponse));
    }
    if (out.id() < 0 || out.is(McpMethod.LISTEN)) {
      long timer = context.owner().setTimer(TIMEOUT_MILLIS, late -> clientResponse.abort());
      body.onComplete(read -> context.owner().cancelTimer(timer));
    }
    return body;
  }

  /** Handles a response whose body is one JSON object or empty. */
  private void handleBody(OutgoingMessage out, ClientResponse clientResponse, Buffer body) {
    int status = clientResponse.response().statusCode();
    RpcMessage message = body.length() == 0 ? null : message(body.getBytes());
    boolean isResponse = message != null && out.id() >= 0 && message.numericId() == out.id();
    if (out.is(McpMethod.INITIALIZE) && FALLBACK_STATUSES.contains(status)) {
      fallBackToSse(out, isResponse ? message : null);
    } else if (isResponse) {
      listener.messages(List.of(learn(out, clientResponse, message)));
    } else if (status == 400 && session != null && out.is(McpMethod.PING)) {
      endSession(out);
    } else if (out.id() >= 0) {
      ConnectFailures.reportLost(listener, out.id(), clientResponse.statusError());
    } else if (out.is(McpMethod.INITIALIZED)) {
      openStandaloneStream();
    }
  }

  /**
   * The server has dropped the session. A 404 proves that the request was not executed, so it can
   * be retried in the next session; a 400 without JSON-RPC response proves that only for a ping.
   */
  private void endSession(OutgoingMessage out) {
    ConnectFailures.reportLost(
        listener,
        out.id(),
        new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "The session has expired on the server"));
    end("the session has expired on the server");
  }

  /** Falls back to HTTP+SSE of 2024-11-05 (basic/transports, backward compatibility). */
  private void fallBackToSse(OutgoingMessage out, RpcMessage refusal) {
    SseTransport.open(context, peer, limits, listener)
        .onSuccess(
            opened -> {
              sseFallback = opened;
              if (closed) {
                opened.close();
              } else {
                opened.send(out.line());
              }
            })
        .onFailure(
            failure -> {
              if (refusal != null) {
                listener.messages(List.of(refusal));
              } else {
                ConnectFailures.reportLost(listener, out.id(), failure);
              }
            });
  }

  private void stream(OutgoingMessage out, ClientResponse clientResponse, int resumptions) {
    if (out.id() >= 0) {
      streams.put(out.id(), clientResponse);
    }
    SseReader events =
        new SseReader(limits.maxMessageBytes(), event -> event(out, clientResponse, event));
    clientResponse.events(
        events,
        out.is(McpMethod.LISTEN)
            ? BackpressuredBody.MAX_WAIT_NANOS
            : BackpressuredBody.UNLIMITED_NANOS,
        new ClientResponse.StreamListener() {
          @Override
          public void onOversizedEvent() {
            abortTooLong(out, clientResponse);
          }

          @Override
          public void ended(Throwable failure) {
            resume(out, events, resumptions);
          }
        });
  }

  private void event(OutgoingMessage out, ClientResponse clientResponse, SseReader.Event event) {
    RpcMessage message = event.type().equals("message") ? message(event.data()) : null;
    if (message == null) {
      return;
    }
    boolean isResponse =
        message.kind() == RpcMessage.Kind.RESULT || message.kind() == RpcMessage.Kind.ERROR;
    if (isResponse && message.numericId() == out.id()) {
      streams.remove(out.id());
      message = learn(out, clientResponse, message);
    }
    listener.messages(List.of(message));
  }

  /** Resumes a stream that ended before its response; fails the request if that is impossible. */
  private void resume(OutgoingMessage out, SseReader events, int resumptions) {
    if (closed || out.id() < 0 || streams.remove(out.id()) == null) {
      return;
    }
    if (out.is(McpMethod.LISTEN)) {
      subscribeIn(DEFAULT_RETRY_MILLIS, out, DEFAULT_RETRY_MILLIS);
      return;
    }
    if (session == null || events.lastId() == null || resumptions >= MAX_RESUMPTIONS) {
      ConnectFailures.reportLost(
          listener,
          out.id(),
          new BridgeException(ErrorCode.UPSTREAM_CRASHED, "The response stream ended prematurely")
              .withExecuted(Executed.UNKNOWN));
      return;
    }
    Map<String, String> headers = sessionHeaders();
    headers.put("last-event-id", events.lastId());
    long delay = events.retryMillis() < 0 ? DEFAULT_RETRY_MILLIS : events.retryMillis();
    context
        .owner()
        .timer(Math.max(1, Math.min(delay, MAX_RETRY_MILLIS)))
        .compose(v -> peer.listen(peer.url(), headers))
        .onSuccess(clientResponse -> stream(out, clientResponse, resumptions + 1))
        .onFailure(failure -> ConnectFailures.reportLost(listener, out.id(), failure));
  }

  /** Opens the stream for messages that belong to no request; a server may not offer one. */
  private void openStandaloneStream() {
    if (closed || session == null && version == null) {
      return;
    }
    peer.listen(peer.url(), sessionHeaders())
        .onSuccess(
            clientResponse -> {
              if (clientResponse.response().statusCode() == 200
                  && clientResponse.isStream()
                  && !closed) {
                standaloneStream = clientResponse;
                readStandaloneStream(clientResponse);
              } else {
                clientResponse.abort();
              }
            })
        .onFailure(failure -> reopenStandaloneStream());
  }

  private void readStandaloneStream(ClientResponse clientResponse) {
    clientResponse.events(
        new SseReader(
            limits.maxMessageBytes(),
            event -> event(OutgoingMessage.NOTHING, clientResponse, event)),
        BackpressuredBody.MAX_WAIT_NANOS,
        new ClientResponse.StreamListener() {
          @Override
          public void onData() {
            reopenDelay = DEFAULT_RETRY_MILLIS;
          }

          @Override
          public void onOversizedEvent() {
            clientResponse.abort();
          }

          @Override
          public void ended(Throwable broken) {
            reopenStandaloneStream();
          }
        });
  }

  private void reopenStandaloneStream() {
    if (!closed) {
      context.owner().setTimer(reopenDelay, t -> openStandaloneStream());
      reopenDelay = Math.min(MAX_RETRY_MILLIS, reopenDelay * 2);
    }
  }

  /** Aborts a stream with an oversized event; its request fails, a subscription is reopened. */
  private void abortTooLong(OutgoingMessage out, ClientResponse clientResponse) {
    streams.remove(out.id());
    if (out.is(McpMethod.LISTEN)) {
      subscribeIn(DEFAULT_RETRY_MILLIS, out, DEFAULT_RETRY_MILLIS);
    } else {
      ConnectFailures.reportLost(
          listener, out.id(), ClientResponse.tooLarge(limits.maxMessageBytes()));
    }
    clientResponse.abort();
  }

  /** Takes session, version and mirrored headers from a response; returns it for the listener. */
  private RpcMessage learn(
      OutgoingMessage out, ClientResponse clientResponse, RpcMessage response) {
    if (response.kind() == RpcMessage.Kind.RESULT && out.is(McpMethod.INITIALIZE)) {
      session = clientResponse.response().getHeader("mcp-session-id");
      version = JsonObjects.string(JsonObjects.members(response.payload()).get("protocolVersion"));
    } else if (response.kind() == RpcMessage.Kind.RESULT && out.is(McpMethod.TOOLS_LIST)) {
      JsonSlice usable = mirrored.recordTools(response.payload());
      return new RpcMessage(response.kind(), response.id(), null, usable, response.wellShaped());
    }
    return response;
  }

  /** Closes the response of a cancelled request, which cancels it in the stateless era. */
  private void cancel(OutgoingMessage cancellation) {
    long id = cancellation.cancelled();
    subscriptions.remove(id);
    ClientResponse clientResponse = streams.remove(id);
    if (clientResponse != null) {
      clientResponse.abort();
    }
    PendingRequest pendingRequest = unanswered.remove(id);
    if (pendingRequest != null) {
      pendingRequest.cancel();
    }
  }

  private Map<String, String> headers(OutgoingMessage out) {
    Map<String, String> headers = out.isStateless() ? out.headers(mirrored) : sessionHeaders();
    headers.putAll(out.traceContext());
    return headers;
  }

  private Map<String, String> sessionHeaders() {
    Map<String, String> headers = new LinkedHashMap<>();
    if (session != null) {
      headers.put("mcp-session-id", session);
    }
    if (version != null) {
      headers.put("mcp-protocol-version", version);
    }
    return headers;
  }

  private void end(String reason) {
    if (closed) {
      return;
    }
    closed = true;
    List.copyOf(streams.values()).forEach(ClientResponse::abort);
    streams.clear();
    if (standaloneStream != null) {
      standaloneStream.abort();
    }
    if (sseFallback == null) {
      listener.closed(reason);
    }
  }

  private RpcMessage message(byte[] bytes) {
    try {
      return reader.read(bytes, 0, bytes.length);
    } catch (JsonSyntaxException e) {
      listener.garbage(1);
      return null;
    }
  }
}
