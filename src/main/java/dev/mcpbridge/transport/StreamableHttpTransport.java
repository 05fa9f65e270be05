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
 * Streamable HTTP in both eras (basic/transports): a POST for each message, answered by one object
 * or a stream. With a handshake there is a session, a stream for what belongs to no request, and
 * resumption of a stream that broke; without, each request carries its headers, and giving it up is
 * closing it. A session that the server has forgotten ends the connection; its supervisor opens
 * another.
 */
public final class StreamableHttpTransport implements Transport {
  private static final long DEFAULT_RETRY_MILLIS = 1_000;
  private static final long MAX_RETRY_MILLIS = 30_000;
  private static final int MAX_RESUMPTIONS = 5;
  private static final long PATIENCE_MILLIS = 10_000;
  private static final Set<Integer> OLD_SERVER = Set.of(400, 404, 405);

  private final Context context;
  private final HttpPeer peer;
  private final StdioTransport.Limits limits;
  private final RpcReader reader;
  private final TransportListener listener;
  private final MirroredHeaders mirrored = new MirroredHeaders();
  private final Map<Long, ClientResponse> streams = new HashMap<>();
  private final Map<Long, PendingRequest> unanswered = new HashMap<>();
  private final Set<Long> subscriptions = new HashSet<>();
  private Transport older;
  private ClientResponse standing;
  private String session;
  private String version;
  private long resumeDelay = DEFAULT_RETRY_MILLIS;
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
    if (older != null) {
      return older.send(line);
    }
    OutgoingMessage out = OutgoingMessage.of(reader, line);
    if (out.is(McpMethod.CANCELLED)) {
      letGo(out);
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
    boolean open = !closed;
    Future<Void> ended =
        open && session != null
            ? peer.delete(peer.url(), sessionHeaders()).otherwiseEmpty()
            : Future.succeededFuture();
    end("stopped");
    Future<Void> more = older == null ? Future.succeededFuture() : older.close();
    return Future.any(ended, context.owner().timer(1_000).<Void>mapEmpty())
        .compose(done -> more)
        .compose(done -> peer.close())
        .otherwiseEmpty();
  }

  private void post(OutgoingMessage out) {
    sent(out)
        .onComplete(
            clientResponse -> answered(out, clientResponse),
            failure -> ConnectFailures.lost(listener, out.id(), failure));
  }

  /** A request can take its time, and be given up; anything else is only to be taken note of. */
  private Future<ClientResponse> sent(OutgoingMessage out) {
    PendingRequest pendingRequest = peer.post(peer.url(), out.line(), headers(out));
    if (out.id() >= 0) {
      unanswered.put(out.id(), pendingRequest);
    } else {
      pendingRequest.within(context.owner(), PATIENCE_MILLIS);
    }
    return pendingRequest.answer().onComplete(done -> unanswered.remove(out.id(), pendingRequest));
  }

  /** A subscription is for as long as the connection is, whatever happens to its stream. */
  private void subscribe(OutgoingMessage out, long delay) {
    if (closed || !subscriptions.contains(out.id())) {
      return;
    }
    long next = Math.min(MAX_RETRY_MILLIS, delay * 2);
    sent(out)
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

  /** An answer is final; a status without one may be another the next time. */
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

  private void answered(OutgoingMessage out, ClientResponse clientResponse) {
    int status = clientResponse.response().statusCode();
    if (status == 404 && session != null) {
      forgotten(out);
    } else if (clientResponse.isStream() && status == 200) {
      stream(out, clientResponse, 0);
    } else {
      body(out, clientResponse)
          .onSuccess(body -> object(out, clientResponse, body))
          .onFailure(failure -> ConnectFailures.lost(listener, out.id(), failure));
    }
  }

  /** A body belongs to its request, and is given up with it; one that nobody waits for in time. */
  private Future<Buffer> body(OutgoingMessage out, ClientResponse clientResponse) {
    Future<Buffer> body = clientResponse.body(limits.maxMessageBytes());
    if (out.id() >= 0) {
      streams.put(out.id(), clientResponse);
      body.onComplete(read -> streams.remove(out.id(), clientResponse));
    }
    if (out.id() < 0 || out.is(McpMethod.LISTEN)) {
      long timer = context.owner().setTimer(PATIENCE_MILLIS, late -> clientResponse.abort());
      body.onComplete(read -> context.owner().cancelTimer(timer));
    }
    return body;
  }

  /** One object, or none. */
  private void object(OutgoingMessage out, ClientResponse clientResponse, Buffer body) {
    int status = clientResponse.response().statusCode();
    RpcMessage message = body.length() == 0 ? null : message(body.getBytes());
    boolean mine = message != null && out.id() >= 0 && message.numericId() == out.id();
    if (out.is(McpMethod.INITIALIZE) && OLD_SERVER.contains(status)) {
      fallBack(out, mine ? message : null);
    } else if (mine) {
      listener.messages(List.of(took(out, clientResponse, message)));
    } else if (status == 400 && session != null && out.is(McpMethod.PING)) {
      forgotten(out);
    } else if (out.id() >= 0) {
      ConnectFailures.lost(listener, out.id(), clientResponse.refusal());
    } else if (out.is(McpMethod.INITIALIZED)) {
      stand();
    }
  }

  /**
   * The server has forgotten the session: 404 proves that it looked at nothing else, so the request
   * can be sent again in the next one. A 400 without an answer proves nothing of a call, and tells
   * as much of a ping.
   */
  private void forgotten(OutgoingMessage out) {
    ConnectFailures.lost(
        listener,
        out.id(),
        new BridgeException(
            ErrorCode.SERVER_UNAVAILABLE, "The server does not know the session any more"));
    end("the server does not know the session any more");
  }

  /** A server of 2024-11-05 (basic/transports, backward compatibility). */
  private void fallBack(OutgoingMessage out, RpcMessage refusal) {
    SseTransport.open(context, peer, limits, listener)
        .onSuccess(
            opened -> {
              older = opened;
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
                ConnectFailures.lost(listener, out.id(), failure);
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
            ? BackpressuredBody.PATIENCE_NANOS
            : BackpressuredBody.AS_LONG_AS_ITS_CALL,
        new ClientResponse.StreamListener() {
          @Override
          public void tooLong() {
            giveUp(out, clientResponse);
          }

          @Override
          public void ended(Throwable why) {
            broken(out, events, resumptions);
          }
        });
  }

  private void event(OutgoingMessage out, ClientResponse clientResponse, SseReader.Event event) {
    RpcMessage message = event.type().equals("message") ? message(event.data()) : null;
    if (message == null) {
      return;
    }
    boolean isAnswer =
        message.kind() == RpcMessage.Kind.RESULT || message.kind() == RpcMessage.Kind.ERROR;
    if (isAnswer && message.numericId() == out.id()) {
      streams.remove(out.id());
      message = took(out, clientResponse, message);
    }
    listener.messages(List.of(message));
  }

  /** A stream that ended before its answer is taken up again where it can be, else it is lost. */
  private void broken(OutgoingMessage out, SseReader events, int resumptions) {
    if (closed || out.id() < 0 || streams.remove(out.id()) == null) {
      return;
    }
    if (out.is(McpMethod.LISTEN)) {
      subscribeIn(DEFAULT_RETRY_MILLIS, out, DEFAULT_RETRY_MILLIS);
      return;
    }
    if (session == null || events.lastId() == null || resumptions >= MAX_RESUMPTIONS) {
      ConnectFailures.lost(
          listener,
          out.id(),
          new BridgeException(ErrorCode.UPSTREAM_CRASHED, "The answer broke off")
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
        .onFailure(failure -> ConnectFailures.lost(listener, out.id(), failure));
  }

  /** The stream for what belongs to no request; a server may have none. */
  private void stand() {
    if (closed || session == null && version == null) {
      return;
    }
    peer.listen(peer.url(), sessionHeaders())
        .onSuccess(
            clientResponse -> {
              if (clientResponse.response().statusCode() == 200
                  && clientResponse.isStream()
                  && !closed) {
                standing = clientResponse;
                hearken(clientResponse);
              } else {
                clientResponse.abort();
              }
            })
        .onFailure(failure -> standAgain());
  }

  private void hearken(ClientResponse clientResponse) {
    clientResponse.events(
        new SseReader(
            limits.maxMessageBytes(),
            event -> event(OutgoingMessage.NOTHING, clientResponse, event)),
        BackpressuredBody.PATIENCE_NANOS,
        new ClientResponse.StreamListener() {
          @Override
          public void heard() {
            resumeDelay = DEFAULT_RETRY_MILLIS;
          }

          @Override
          public void tooLong() {
            clientResponse.abort();
          }

          @Override
          public void ended(Throwable broken) {
            standAgain();
          }
        });
  }

  private void standAgain() {
    if (!closed) {
      context.owner().setTimer(resumeDelay, t -> stand());
      resumeDelay = Math.min(MAX_RETRY_MILLIS, resumeDelay * 2);
    }
  }

  /** An event that is too long costs its own stream, and the request that waits for it. */
  private void giveUp(OutgoingMessage out, ClientResponse clientResponse) {
    streams.remove(out.id());
    if (out.is(McpMethod.LISTEN)) {
      subscribeIn(DEFAULT_RETRY_MILLIS, out, DEFAULT_RETRY_MILLIS);
    } else {
      ConnectFailures.lost(listener, out.id(), ClientResponse.tooLarge(limits.maxMessageBytes()));
    }
    clientResponse.abort();
  }

  /** What the transport itself learns from an answer; the answer as it goes on. */
  private RpcMessage took(OutgoingMessage out, ClientResponse clientResponse, RpcMessage answer) {
    if (answer.kind() == RpcMessage.Kind.RESULT && out.is(McpMethod.INITIALIZE)) {
      session = clientResponse.response().getHeader("mcp-session-id");
      version = JsonObjects.string(JsonObjects.members(answer.payload()).get("protocolVersion"));
    } else if (answer.kind() == RpcMessage.Kind.RESULT && out.is(McpMethod.TOOLS_LIST)) {
      JsonSlice usable = mirrored.learn(answer.payload());
      return new RpcMessage(answer.kind(), answer.id(), null, usable, answer.wellShaped());
    }
    return answer;
  }

  /**
   * Closes the response that nobody waits for any more. In the stateless era that gives the request
   * up; with a handshake the notification does, and a server that goes on must not keep the
   * connection.
   */
  private void letGo(OutgoingMessage cancellation) {
    long id = cancellation.cancelled();
    subscriptions.remove(id);
    ClientResponse clientResponse = streams.remove(id);
    if (clientResponse != null) {
      clientResponse.abort();
    }
    PendingRequest pendingRequest = unanswered.remove(id);
    if (pendingRequest != null) {
      pendingRequest.giveUp();
    }
  }

  private Map<String, String> headers(OutgoingMessage out) {
    return out.isStateless() ? out.headers(mirrored) : sessionHeaders();
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
    if (standing != null) {
      standing.abort();
    }
    if (older == null) {
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
