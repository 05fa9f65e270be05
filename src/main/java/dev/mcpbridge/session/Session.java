package dev.mcpbridge.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcError;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcWriter;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Requests and answers over one transport. Ids are ours and never reused, so that answers can't be
 * confused whatever ids the callers use; an answer is taken once, by the request it belongs to.
 *
 * <p>Confined to its context. When the transport closes, everything pending fails with {@code
 * executed: unknown}; nothing is ever sent twice.
 */
public final class Session implements TransportListener {
  private static final long SWEEP_MILLIS = 20;
  private static final int MAX_ABANDONED = 10_000;

  private final Context context;
  private final String name;
  private final SessionListener listener;
  private final Map<Long, Exchange> pending = new HashMap<>();
  private final Map<Long, Long> abandoned = new LinkedHashMap<>();
  private final Map<Long, Promise<Void>> agreements = new HashMap<>();
  private final RequestMeta meta = new RequestMeta();
  private Transport transport;
  private long lastId;
  private long lastHeardNanos = System.nanoTime();
  private boolean sweeping;
  private String closedReason;

  public Session(Context context, String name, SessionListener listener) {
    this.context = context;
    this.name = name;
    this.listener = listener;
  }

  /** Gives the session its transport; called once, before the first request. */
  public Session over(Transport opened) {
    transport = opened;
    return this;
  }

  public Transport transport() {
    return transport;
  }

  public int pendingCount() {
    return pending.size();
  }

  /** When the upstream last sent a message, on {@link System#nanoTime()}'s clock. */
  public long lastHeardNanos() {
    return lastHeardNanos;
  }

  /** Sends a request. Fails at once, with {@code executed: no}, where it could not be sent. */
  public Exchange send(Exchange.Request request) {
    Exchange exchange = new Exchange(++lastId, request);
    if (closedReason != null) {
      exchange.promise.fail(new BridgeException(ErrorCode.UPSTREAM_CRASHED, closedReason));
      return exchange;
    }
    exchange.position = transport.send(encode(exchange));
    if (exchange.position < 0) {
      exchange.promise.fail(
          new BridgeException(ErrorCode.QUEUE_FULL, "Server '" + name + "' does not read its input")
              .withRetryAfter(1000));
      return exchange;
    }
    pending.put(exchange.id, exchange);
    watchDeadlines();
    return exchange;
  }

  public Future<JsonSlice> request(String method, JsonSlice params, long timeoutMillis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    return send(Exchange.Request.plain(method, params, deadline)).answer().map(RpcMessage::payload);
  }

  public void notify(String method, JsonSlice params) {
    if (closedReason == null) {
      transport.send(RpcWriter.notification(method, params));
    }
  }

  /** From now on every request says who asks: the server keeps no session (2026-07-28). */
  public void stateless(BridgeIdentity self) {
    meta.introduce(self);
  }

  /**
   * From now on every request says which bridges it has passed, this one last.
   *
   * @param self null for not any more
   */
  void follow(String self) {
    meta.follow(self);
  }

  /** The server does not know such requests: it is one with a handshake. */
  void withHandshake() {
    meta.withhold();
  }

  public boolean isStateless() {
    return meta.isStateless();
  }

  /**
   * Sends a request whose answer only says that it is over, whenever that is. What comes meanwhile
   * are notifications; the first of them says that the server has agreed (2026-07-28
   * basic/patterns/subscriptions).
   */
  public Subscription listen(JsonSlice filter) {
    Exchange exchange = new Exchange(++lastId, Exchange.Request.plain(McpMethod.LISTEN, filter, 0));
    Promise<Void> agreement = Promise.promise();
    if (closedReason != null) {
      agreement.fail(new BridgeException(ErrorCode.UPSTREAM_CRASHED, closedReason));
    } else {
      agreements.put(exchange.id, agreement);
      exchange.position = transport.send(encode(exchange));
      abandon(exchange);
    }
    return new Subscription(exchange.id, agreement.future());
  }

  /** Ends what {@link #listen} has begun. */
  public void endListening(Subscription subscription) {
    agreements.remove(subscription.id());
    notify(McpMethod.CANCELLED, cancellation(subscription.id(), "Nobody listens any more"));
  }

  public boolean isOver() {
    return closedReason != null;
  }

  /**
   * A request that is open for as long as somebody listens.
   *
   * @param agreed when the server has said that it will tell
   */
  public record Subscription(long id, Future<Void> agreed) {}

  private void refuse(long listeningId, BridgeException why) {
    Promise<Void> agreement = agreements.remove(listeningId);
    if (agreement != null) {
      agreement.fail(why);
    }
  }

  /** Gives a request up and tells the upstream; its answer, should it come, is dropped. */
  public void cancel(Exchange exchange, BridgeException why) {
    if (pending.remove(exchange.id) != null) {
      abandon(exchange);
      notify(McpMethod.CANCELLED, cancellation(exchange.id, why.getMessage()));
      exchange.promise.fail(why.withExecuted(Executed.UNKNOWN));
    }
  }

  public Future<Void> close() {
    return transport.close();
  }

  @Override
  public void messages(List<RpcMessage> batch) {
    lastHeardNanos = System.nanoTime();
    for (RpcMessage message : batch) {
      switch (message.kind()) {
        case RESULT, ERROR -> answered(message);
        case REQUEST -> asked(message);
        case NOTIFICATION -> notified(message);
      }
    }
  }

  @Override
  public void oversized(long requestId, long bytes) {
    Exchange exchange = pending.remove(requestId);
    if (exchange == null) {
      listener.lost(1, 0);
      return;
    }
    transport.acknowledge(exchange.position);
    exchange.promise.fail(
        new BridgeException(
                ErrorCode.RESPONSE_TOO_LARGE,
                "The answer of server '" + name + "' is too large: " + bytes + " bytes")
            .withExecuted(Executed.YES));
  }

  @Override
  public void unreadable(long requestId) {
    Exchange exchange = pending.remove(requestId);
    listener.lost(1, 0);
    if (exchange != null) {
      transport.acknowledge(exchange.position);
      exchange.promise.fail(
          new BridgeException(
                  ErrorCode.UPSTREAM_PROTOCOL_ERROR,
                  "Server '" + name + "' answered with something that is no JSON-RPC message")
              .withExecuted(Executed.YES));
    }
  }

  @Override
  public void lost(long requestId, BridgeException failure) {
    Exchange exchange = pending.remove(requestId);
    if (exchange != null) {
      transport.acknowledge(exchange.position);
      exchange.promise.fail(failure);
    }
  }

  @Override
  public void works(long requestId, boolean isAtWork) {
    Exchange exchange = pending.get(requestId);
    if (exchange != null && isAtWork) {
      exchange.pause();
    } else if (exchange != null) {
      exchange.resume();
    }
  }

  @Override
  public void garbage(int lines) {
    listener.lost(lines, 0);
  }

  @Override
  public void dropped(int notifications) {
    listener.lost(0, notifications);
  }

  @Override
  public void closed(String reason) {
    closedReason = "Server '" + name + "' is gone: " + reason;
    List<Exchange> orphans = new ArrayList<>(pending.values());
    pending.clear();
    BridgeException failure =
        new BridgeException(ErrorCode.UPSTREAM_CRASHED, closedReason)
            .withExecuted(Executed.UNKNOWN);
    orphans.forEach(exchange -> exchange.promise.fail(failure));
    List.copyOf(agreements.keySet()).forEach(id -> refuse(id, failure));
    listener.closed(reason);
  }

  private byte[] encode(Exchange exchange) {
    Exchange.Request request = exchange.request;
    JsonSlice own = meta.of(exchange);
    return own == null
        ? RpcWriter.request(exchange.id, request.method(), request.params())
        : RpcWriter.request(exchange.id, request.method(), request.params(), own);
  }

  private void answered(RpcMessage message) {
    Exchange exchange = pending.remove(message.numericId());
    if (exchange == null) {
      late(message.numericId());
      BridgeException over =
          message.kind() == RpcMessage.Kind.ERROR
              ? failure(RpcError.read(message.payload()))
              : new BridgeException(ErrorCode.UPSTREAM_ERROR, "The server does not listen");
      refuse(message.numericId(), over);
      return;
    }
    transport.acknowledge(exchange.position);
    if (message.kind() == RpcMessage.Kind.RESULT) {
      exchange.promise.complete(message);
    } else {
      exchange.promise.fail(failure(RpcError.read(message.payload())));
    }
  }

  /** Remembers how far the upstream has read when it answers nevertheless. */
  private void abandon(Exchange exchange) {
    abandoned.put(exchange.id, exchange.position);
    if (abandoned.size() > MAX_ABANDONED) {
      abandoned.remove(abandoned.keySet().iterator().next());
    }
  }

  private void late(long id) {
    Long position = abandoned.remove(id);
    if (position == null) {
      listener.lost(0, 1);
    } else {
      transport.acknowledge(position);
    }
  }

  /** JSON-RPC 2.0 section 5.1: the codes that say that nothing was run. */
  private static BridgeException failure(RpcError error) {
    ErrorCode code =
        switch (error.code()) {
          case RpcError.METHOD_NOT_FOUND, RpcError.RESOURCE_NOT_FOUND -> ErrorCode.NOT_FOUND;
          case RpcError.INVALID_PARAMS -> ErrorCode.INVALID_ARGUMENTS;
          default -> ErrorCode.UPSTREAM_ERROR;
        };
    Executed executed = code == ErrorCode.UPSTREAM_ERROR ? Executed.UNKNOWN : Executed.NO;
    return new BridgeException(code, error.message())
        .withExecuted(executed)
        .with("upstream", error.raw().detached());
  }

  /** A server's own requests are answered or refused, never ignored. */
  private void asked(RpcMessage message) {
    if (McpMethod.PING.equals(message.method())) {
      transport.send(RpcWriter.result(message.id(), JsonSlice.EMPTY_OBJECT));
      return;
    }
    JsonSlice id = message.id().detached();
    JsonSlice params = message.payload() == null ? JsonSlice.EMPTY_OBJECT : message.payload();
    listener
        .asked(message.method(), params)
        .onComplete(
            answer -> reply(RpcWriter.result(id, answer)), refusal -> reply(refusal(id, refusal)));
  }

  /** A client's own error goes to the server as it was. */
  private static byte[] refusal(JsonSlice id, Throwable why) {
    return why instanceof BridgeException known
            && known.members().get("upstream") instanceof JsonSlice error
        ? RpcWriter.error(id, error)
        : RpcWriter.error(id, RpcError.METHOD_NOT_FOUND, why.getMessage());
  }

  private void reply(byte[] line) {
    if (closedReason == null) {
      transport.send(line);
    }
  }

  private void notified(RpcMessage message) {
    if (McpMethod.PROGRESS.equals(message.method()) && message.payload() != null) {
      progressed(message.payload());
    } else if (McpMethod.ACKNOWLEDGED.equals(message.method()) && message.payload() != null) {
      agreed(message.payload());
    } else {
      listener.notified(message);
    }
  }

  private void agreed(JsonSlice params) {
    JsonSlice meta = JsonObjects.members(params).get("_meta");
    JsonSlice id = meta == null ? null : JsonObjects.members(meta).get(MetaKeys.SUBSCRIPTION);
    RpcMessage named = new RpcMessage(RpcMessage.Kind.NOTIFICATION, id, null, null);
    if (id == null) {
      return;
    }
    Promise<Void> agreement = agreements.remove(named.numericId());
    if (agreement != null) {
      agreement.complete();
    }
    listener.agreed(named.numericId());
  }

  private void progressed(JsonSlice params) {
    JsonSlice token = JsonObjects.members(params).get("progressToken");
    RpcMessage named = new RpcMessage(RpcMessage.Kind.NOTIFICATION, token, null, null);
    Exchange exchange = pending.get(named.numericId());
    if (exchange != null && exchange.request.progress() != null) {
      exchange.request.progress().accept(params);
    }
  }

  private void watchDeadlines() {
    if (!sweeping) {
      sweeping = true;
      context.owner().setTimer(SWEEP_MILLIS, t -> sweep());
    }
  }

  private void sweep() {
    sweeping = false;
    long now = System.nanoTime();
    List<Exchange> late =
        pending.values().stream().filter(exchange -> exchange.isLate(now)).toList();
    late.forEach(exchange -> cancel(exchange, timeout(exchange, now)));
    if (!pending.isEmpty()) {
      watchDeadlines();
    }
  }

  private BridgeException timeout(Exchange exchange, long now) {
    double seconds = (now - exchange.sentNanos) / 1e9;
    String shown =
        seconds >= 1 ? Math.round(seconds) + " seconds" : Math.round(seconds * 1000) + " ms";
    return new BridgeException(
        ErrorCode.DEADLINE_EXCEEDED, "Request to " + name + " timed out after " + shown);
  }

  private static JsonSlice cancellation(long id, String reason) {
    return new JsonWriter()
        .beginObject()
        .member("requestId", id)
        .member("reason", reason)
        .endObject()
        .toSlice();
  }
}
