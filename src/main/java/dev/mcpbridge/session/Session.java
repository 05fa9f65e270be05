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
 * Requests and responses over one transport. The session assigns its own ids and never reuses them,
 * so responses cannot be confused whatever ids the callers use; each response is delivered once.
 *
 * <p>Confined to its context. When the transport closes, all pending requests fail with {@code
 * executed: unknown}; no request is ever sent twice.
 */
public final class Session implements TransportListener {
  private static final long SWEEP_MILLIS = 20;
  private static final int MAX_ABANDONED = 10_000;

  private final Context context;
  private final String name;
  private final SessionListener listener;
  private final Map<Long, Exchange> pending = new HashMap<>();
  private final Map<Long, Long> abandoned = new LinkedHashMap<>();
  private final Map<Long, Promise<Void>> acknowledgements = new HashMap<>();
  private final RequestMeta meta = new RequestMeta();
  private Transport transport;
  private long lastId;
  private long lastMessageNanos = System.nanoTime();
  private boolean sweeping;
  private String closedReason;

  public Session(Context context, String name, SessionListener listener) {
    this.context = context;
    this.name = name;
    this.listener = listener;
  }

  /** Sets the transport; called once, before the first request. */
  public Session bind(Transport opened) {
    transport = opened;
    return this;
  }

  public Transport transport() {
    return transport;
  }

  public int pendingCount() {
    return pending.size();
  }

  /** Time of the upstream's last message, on the clock of {@link System#nanoTime()}. */
  public long lastMessageNanos() {
    return lastMessageNanos;
  }

  /** Sends a request. Fails at once, with {@code executed: no}, if it cannot be sent. */
  public Exchange send(Exchange.Request request) {
    Exchange exchange = new Exchange(++lastId, request);
    if (closedReason != null) {
      exchange.promise.fail(new BridgeException(ErrorCode.UPSTREAM_CRASHED, closedReason));
      return exchange;
    }
    exchange.position = transport.send(encode(exchange).toLine());
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
    return send(Exchange.Request.plain(method, params, deadline))
        .response()
        .map(RpcMessage::payload);
  }

  public void notify(String method, JsonSlice params) {
    if (closedReason == null) {
      transport.send(RpcWriter.notification(method, params).toLine());
    }
  }

  /** Switches to the stateless era: every further request identifies the client (2026-07-28). */
  public void stateless(BridgeIdentity self) {
    meta.enableClientInfo(self);
  }

  /**
   * Adds the path of bridges, this one last, to all further requests.
   *
   * @param self id of this bridge; null to stop adding the path
   */
  void setBridgePath(String self) {
    meta.setBridgePath(self);
  }

  /** Switches back to the era with a handshake. */
  void withHandshake() {
    meta.disableClientInfo();
  }

  public boolean isStateless() {
    return meta.isStateless();
  }

  /**
   * Opens a subscription: a request that stays open while the server sends notifications; the first
   * one acknowledges the subscription, and the response ends it (2026-07-28
   * basic/patterns/subscriptions).
   */
  public Subscription subscribe(JsonSlice filter) {
    Exchange exchange = new Exchange(++lastId, Exchange.Request.plain(McpMethod.LISTEN, filter, 0));
    Promise<Void> acknowledgement = Promise.promise();
    if (closedReason != null) {
      acknowledgement.fail(new BridgeException(ErrorCode.UPSTREAM_CRASHED, closedReason));
    } else {
      acknowledgements.put(exchange.id, acknowledgement);
      exchange.position = transport.send(encode(exchange).toLine());
      abandon(exchange);
    }
    return new Subscription(exchange.id, acknowledgement.future());
  }

  /** Cancels a subscription opened by {@link #subscribe}. */
  public void unsubscribe(Subscription subscription) {
    acknowledgements.remove(subscription.id());
    notify(McpMethod.CANCELLED, cancellation(subscription.id(), "The subscription has ended"));
  }

  public boolean isClosed() {
    return closedReason != null;
  }

  /**
   * An open subscription.
   *
   * @param acknowledged completes when the server has acknowledged the subscription
   */
  public record Subscription(long id, Future<Void> acknowledged) {}

  private void failSubscription(long id, BridgeException cause) {
    Promise<Void> acknowledgement = acknowledgements.remove(id);
    if (acknowledgement != null) {
      acknowledgement.fail(cause);
    }
  }

  /** Cancels a request and notifies the upstream; a late response is dropped. */
  public void cancel(Exchange exchange, BridgeException reason) {
    if (pending.remove(exchange.id) != null) {
      abandon(exchange);
      notify(McpMethod.CANCELLED, cancellation(exchange.id, reason.getMessage()));
      exchange.promise.fail(reason.withExecuted(Executed.UNKNOWN));
    }
  }

  public Future<Void> close() {
    return transport.close();
  }

  @Override
  public void messages(List<RpcMessage> batch) {
    lastMessageNanos = System.nanoTime();
    for (RpcMessage message : batch) {
      switch (message.kind()) {
        case RESULT, ERROR -> onResponse(message);
        case REQUEST -> onRequest(message);
        case NOTIFICATION -> onNotification(message);
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
                "The response of server '" + name + "' is too large: " + bytes + " bytes")
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
                  "Server '" + name + "' sent a response that is not a valid JSON-RPC message")
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
  public void onBridgeWork(long requestId, boolean isAtWork) {
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
    closedReason = "The connection to server '" + name + "' has ended: " + reason;
    List<Exchange> unanswered = new ArrayList<>(pending.values());
    pending.clear();
    BridgeException failure =
        new BridgeException(ErrorCode.UPSTREAM_CRASHED, closedReason)
            .withExecuted(Executed.UNKNOWN);
    unanswered.forEach(exchange -> exchange.promise.fail(failure));
    List.copyOf(acknowledgements.keySet()).forEach(id -> failSubscription(id, failure));
    listener.closed(reason);
  }

  private JsonWriter encode(Exchange exchange) {
    Exchange.Request request = exchange.request;
    JsonSlice requestMeta = meta.of(exchange);
    return requestMeta == null
        ? RpcWriter.request(exchange.id, request.method(), request.params())
        : RpcWriter.request(exchange.id, request.method(), request.params(), requestMeta);
  }

  private void onResponse(RpcMessage message) {
    Exchange exchange = pending.remove(message.numericId());
    if (exchange == null) {
      onLateResponse(message.numericId());
      BridgeException cause =
          message.kind() == RpcMessage.Kind.ERROR
              ? failure(RpcError.read(message.payload()))
              : new BridgeException(ErrorCode.UPSTREAM_ERROR, "The server ended the subscription");
      failSubscription(message.numericId(), cause);
      return;
    }
    transport.acknowledge(exchange.position);
    if (message.kind() == RpcMessage.Kind.RESULT) {
      exchange.promise.complete(message);
    } else {
      exchange.promise.fail(failure(RpcError.read(message.payload())));
    }
  }

  /** Stores the position that a late response of the upstream acknowledges. */
  private void abandon(Exchange exchange) {
    abandoned.put(exchange.id, exchange.position);
    if (abandoned.size() > MAX_ABANDONED) {
      abandoned.remove(abandoned.keySet().iterator().next());
    }
  }

  private void onLateResponse(long id) {
    Long position = abandoned.remove(id);
    if (position == null) {
      listener.lost(0, 1);
    } else {
      transport.acknowledge(position);
    }
  }

  /** Maps error codes (JSON-RPC 2.0 section 5.1) and whether the request was executed. */
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

  /** Answers or refuses a request of the server; none is ignored. */
  private void onRequest(RpcMessage message) {
    if (McpMethod.PING.equals(message.method())) {
      transport.send(RpcWriter.result(message.id(), JsonSlice.EMPTY_OBJECT).toLine());
      return;
    }
    JsonSlice id = message.id().detached();
    JsonSlice params = message.payload() == null ? JsonSlice.EMPTY_OBJECT : message.payload();
    listener
        .requestReceived(message.method(), params)
        .onComplete(
            result -> reply(RpcWriter.result(id, result)), refusal -> reply(refusal(id, refusal)));
  }

  /** Encodes a refusal; an error sent by the client is passed to the server unchanged. */
  private static JsonWriter refusal(JsonSlice id, Throwable cause) {
    return cause instanceof BridgeException bridgeFailure
            && bridgeFailure.members().get("upstream") instanceof JsonSlice error
        ? RpcWriter.error(id, error)
        : RpcWriter.error(id, RpcError.METHOD_NOT_FOUND, cause.getMessage());
  }

  private void reply(JsonWriter message) {
    if (closedReason == null) {
      transport.send(message.toLine());
    }
  }

  private void onNotification(RpcMessage message) {
    if (McpMethod.PROGRESS.equals(message.method()) && message.payload() != null) {
      onProgress(message.payload());
    } else if (McpMethod.ACKNOWLEDGED.equals(message.method()) && message.payload() != null) {
      onAcknowledged(message.payload());
    } else {
      listener.notificationReceived(message);
    }
  }

  private void onAcknowledged(JsonSlice params) {
    JsonSlice meta = JsonObjects.members(params).get("_meta");
    JsonSlice id = meta == null ? null : JsonObjects.members(meta).get(MetaKeys.SUBSCRIPTION);
    RpcMessage holder = new RpcMessage(RpcMessage.Kind.NOTIFICATION, id, null, null);
    if (id == null) {
      return;
    }
    Promise<Void> acknowledgement = acknowledgements.remove(holder.numericId());
    if (acknowledgement != null) {
      acknowledgement.complete();
    }
    listener.subscriptionAcknowledged(holder.numericId());
  }

  private void onProgress(JsonSlice params) {
    JsonSlice token = JsonObjects.members(params).get("progressToken");
    RpcMessage holder = new RpcMessage(RpcMessage.Kind.NOTIFICATION, token, null, null);
    Exchange exchange = pending.get(holder.numericId());
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
        pending.values().stream().filter(exchange -> exchange.isExpired(now)).toList();
    late.forEach(exchange -> cancel(exchange, timeout(exchange, now)));
    if (!pending.isEmpty()) {
      watchDeadlines();
    }
  }

  private BridgeException timeout(Exchange exchange, long now) {
    double seconds = (now - exchange.sentNanos) / 1e9;
    String duration =
        seconds >= 1 ? Math.round(seconds) + " seconds" : Math.round(seconds * 1000) + " ms";
    return new BridgeException(
        ErrorCode.DEADLINE_EXCEEDED, "Request to " + name + " timed out after " + duration);
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
