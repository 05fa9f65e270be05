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
  private final Map<Long, Sent> streams = new HashMap<>();
  private final Map<Long, Posting> unanswered = new HashMap<>();
  private final Set<Long> subscriptions = new HashSet<>();
  private Transport older;
  private Sent standing;
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
    Outgoing out = Outgoing.of(reader, line);
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

  private void post(Outgoing out) {
    sent(out)
        .onComplete(
            sent -> answered(out, sent), failure -> Unreachable.lost(listener, out.id(), failure));
  }

  /** A request can take its time, and be given up; anything else is only to be taken note of. */
  private Future<Sent> sent(Outgoing out) {
    Posting posting = peer.post(peer.url(), out.line(), headers(out));
    if (out.id() >= 0) {
      unanswered.put(out.id(), posting);
    } else {
      posting.within(context.owner(), PATIENCE_MILLIS);
    }
    return posting.answer().onComplete(done -> unanswered.remove(out.id(), posting));
  }

  /** A subscription is for as long as the connection is, whatever happens to its stream. */
  private void subscribe(Outgoing out, long delay) {
    if (closed || !subscriptions.contains(out.id())) {
      return;
    }
    long next = Math.min(MAX_RETRY_MILLIS, delay * 2);
    sent(out)
        .onSuccess(
            sent -> {
              if (sent.isStream() && sent.response().statusCode() == 200) {
                stream(out, sent, 0);
              } else {
                body(out, sent)
                    .onComplete(
                        body -> refusedSubscription(out, body, next),
                        broken -> subscribeIn(delay, out, next));
              }
            })
        .onFailure(failure -> subscribeIn(delay, out, next));
  }

  /** An answer is final; a status without one may be another the next time. */
  private void refusedSubscription(Outgoing out, Buffer body, long next) {
    RpcMessage message = body.length() == 0 ? null : message(body.getBytes());
    if (message != null && message.numericId() == out.id()) {
      subscriptions.remove(out.id());
      listener.messages(List.of(message));
    } else {
      subscribeIn(next, out, next);
    }
  }

  private void subscribeIn(long delay, Outgoing out, long next) {
    context.owner().setTimer(delay, t -> subscribe(out, next));
  }

  private void answered(Outgoing out, Sent sent) {
    int status = sent.response().statusCode();
    if (status == 404 && session != null) {
      forgotten(out);
    } else if (sent.isStream() && status == 200) {
      stream(out, sent, 0);
    } else {
      body(out, sent)
          .onSuccess(body -> object(out, sent, body))
          .onFailure(failure -> Unreachable.lost(listener, out.id(), failure));
    }
  }

  /** A body belongs to its request, and is given up with it; one that nobody waits for in time. */
  private Future<Buffer> body(Outgoing out, Sent sent) {
    Future<Buffer> body = sent.body(limits.maxMessageBytes());
    if (out.id() >= 0) {
      streams.put(out.id(), sent);
      body.onComplete(read -> streams.remove(out.id(), sent));
    }
    if (out.id() < 0 || out.is(McpMethod.LISTEN)) {
      long timer = context.owner().setTimer(PATIENCE_MILLIS, late -> sent.abort());
      body.onComplete(read -> context.owner().cancelTimer(timer));
    }
    return body;
  }

  /** One object, or none. */
  private void object(Outgoing out, Sent sent, Buffer body) {
    int status = sent.response().statusCode();
    RpcMessage message = body.length() == 0 ? null : message(body.getBytes());
    boolean mine = message != null && out.id() >= 0 && message.numericId() == out.id();
    if (out.is(McpMethod.INITIALIZE) && OLD_SERVER.contains(status)) {
      fallBack(out, mine ? message : null);
    } else if (mine) {
      listener.messages(List.of(took(out, sent, message)));
    } else if (status == 400 && session != null && out.is(McpMethod.PING)) {
      forgotten(out);
    } else if (out.id() >= 0) {
      Unreachable.lost(listener, out.id(), sent.refusal());
    } else if (out.is(McpMethod.INITIALIZED)) {
      stand();
    }
  }

  /**
   * The server has forgotten the session: 404 proves that it looked at nothing else, so the request
   * can be sent again in the next one. A 400 without an answer proves nothing of a call, and tells
   * as much of a ping.
   */
  private void forgotten(Outgoing out) {
    Unreachable.lost(
        listener,
        out.id(),
        new BridgeException(
            ErrorCode.SERVER_UNAVAILABLE, "The server does not know the session any more"));
    end("the server does not know the session any more");
  }

  /** A server of 2024-11-05 (basic/transports, backward compatibility). */
  private void fallBack(Outgoing out, RpcMessage refusal) {
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
                Unreachable.lost(listener, out.id(), failure);
              }
            });
  }

  private void stream(Outgoing out, Sent sent, int resumptions) {
    if (out.id() >= 0) {
      streams.put(out.id(), sent);
    }
    SseReader events = new SseReader(limits.maxMessageBytes(), event -> event(out, sent, event));
    sent.events(
        events,
        out.is(McpMethod.LISTEN) ? Intake.PATIENCE_NANOS : Intake.AS_LONG_AS_ITS_CALL,
        new Sent.StreamListener() {
          @Override
          public void tooLong() {
            giveUp(out, sent);
          }

          @Override
          public void ended(Throwable why) {
            broken(out, events, resumptions);
          }
        });
  }

  private void event(Outgoing out, Sent sent, SseReader.Event event) {
    RpcMessage message = event.type().equals("message") ? message(event.data()) : null;
    if (message == null) {
      return;
    }
    boolean isAnswer =
        message.kind() == RpcMessage.Kind.RESULT || message.kind() == RpcMessage.Kind.ERROR;
    if (isAnswer && message.numericId() == out.id()) {
      streams.remove(out.id());
      message = took(out, sent, message);
    }
    listener.messages(List.of(message));
  }

  /** A stream that ended before its answer is taken up again where it can be, else it is lost. */
  private void broken(Outgoing out, SseReader events, int resumptions) {
    if (closed || out.id() < 0 || streams.remove(out.id()) == null) {
      return;
    }
    if (out.is(McpMethod.LISTEN)) {
      subscribeIn(DEFAULT_RETRY_MILLIS, out, DEFAULT_RETRY_MILLIS);
      return;
    }
    if (session == null || events.lastId() == null || resumptions >= MAX_RESUMPTIONS) {
      Unreachable.lost(
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
        .onSuccess(sent -> stream(out, sent, resumptions + 1))
        .onFailure(failure -> Unreachable.lost(listener, out.id(), failure));
  }

  /** The stream for what belongs to no request; a server may have none. */
  private void stand() {
    if (closed || session == null && version == null) {
      return;
    }
    peer.listen(peer.url(), sessionHeaders())
        .onSuccess(
            sent -> {
              if (sent.response().statusCode() == 200 && sent.isStream() && !closed) {
                standing = sent;
                hearken(sent);
              } else {
                sent.abort();
              }
            })
        .onFailure(failure -> standAgain());
  }

  private void hearken(Sent sent) {
    sent.events(
        new SseReader(limits.maxMessageBytes(), event -> event(Outgoing.NOTHING, sent, event)),
        Intake.PATIENCE_NANOS,
        new Sent.StreamListener() {
          @Override
          public void heard() {
            resumeDelay = DEFAULT_RETRY_MILLIS;
          }

          @Override
          public void tooLong() {
            sent.abort();
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
  private void giveUp(Outgoing out, Sent sent) {
    streams.remove(out.id());
    if (out.is(McpMethod.LISTEN)) {
      subscribeIn(DEFAULT_RETRY_MILLIS, out, DEFAULT_RETRY_MILLIS);
    } else {
      Unreachable.lost(listener, out.id(), Sent.tooLarge(limits.maxMessageBytes()));
    }
    sent.abort();
  }

  /** What the transport itself learns from an answer; the answer as it goes on. */
  private RpcMessage took(Outgoing out, Sent sent, RpcMessage answer) {
    if (answer.kind() == RpcMessage.Kind.RESULT && out.is(McpMethod.INITIALIZE)) {
      session = sent.response().getHeader("mcp-session-id");
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
  private void letGo(Outgoing cancellation) {
    long id = cancellation.cancelled();
    subscriptions.remove(id);
    Sent sent = streams.remove(id);
    if (sent != null) {
      sent.abort();
    }
    Posting posting = unanswered.remove(id);
    if (posting != null) {
      posting.giveUp();
    }
  }

  private Map<String, String> headers(Outgoing out) {
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
    List.copyOf(streams.values()).forEach(Sent::abort);
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
