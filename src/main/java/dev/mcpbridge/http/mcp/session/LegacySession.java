package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.EventBudget;
import dev.mcpbridge.http.mcp.reply.MessageStream;
import dev.mcpbridge.http.mcp.request.Client;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A client of a revision with a handshake, from {@code initialize} to DELETE or expiry, with its
 * unanswered requests and their calls, its streams and its subscriptions at this node.
 */
final class LegacySession implements Client {
  private Caller caller;
  private final SentRequests sentRequests;
  private final SessionStreams streams;

  /** The cancellations of unanswered requests, by their ids. */
  private final Map<JsonSlice, CancellationToken> requests = new HashMap<>();

  private final Map<String, Runnable> subscriptions = new HashMap<>();
  private SessionRecord record;
  private long lastUsedNanos = System.nanoTime();
  private long refreshedNanos = lastUsedNanos;
  private boolean isOver;

  /**
   * @param caller the caller of its calls, with the session's id
   */
  LegacySession(
      Caller caller, SessionRecord record, SentRequests sentRequests, EventBudget budget) {
    this.caller = caller;
    this.record = record;
    this.sentRequests = sentRequests;
    this.streams = new SessionStreams(budget, record.version() == ProtocolVersion.V2025_11_25);
  }

  String id() {
    return caller.session();
  }

  /** The caller of its calls. */
  Caller caller() {
    return caller;
  }

  SessionStreams streams() {
    return streams;
  }

  /** The state that nodes share, as this node knows it. */
  SessionRecord record() {
    return record;
  }

  void update(SessionRecord changed) {
    record = changed;
  }

  @Override
  public String logLevel() {
    return record.logLevel();
  }

  @Override
  public JsonSlice capabilities() {
    return record.capabilities();
  }

  /** Registers a request that will get a response. */
  CancellationToken requestReceived(ClientMessage request) {
    return requests.computeIfAbsent(request.id(), id -> new CancellationToken());
  }

  /** The request was answered. */
  void finished(ClientMessage request) {
    requests.remove(request.id());
  }

  @Override
  public boolean hasEnded() {
    return isOver;
  }

  /**
   * Handles a response or a notification of the client.
   *
   * @return whether it concerns nothing that another node has
   */
  boolean handle(ClientMessage message) {
    if (message.isResponse()) {
      return sentRequests.complete(message);
    }
    JsonSlice requestId = message.params().get("requestId");
    return !McpMethod.CANCELLED.equals(message.method()) || requestId == null || cancel(requestId);
  }

  /** Cancels a request of the client; false if it is unknown here or answered. */
  private boolean cancel(JsonSlice requestId) {
    sentRequests.fail(requestId);
    CancellationToken cancellation = requests.get(requestId);
    if (cancellation != null) {
      cancellation.cancel("The client has cancelled the request");
    }
    return cancellation != null;
  }

  @Override
  public boolean takesRequests() {
    return true;
  }

  @Override
  public Future<JsonSlice> sendRequest(
      McpRequest during, String method, JsonSlice params, long timeoutMillis) {
    return sentRequests.send(during, method, params, timeoutMillis);
  }

  @Override
  public void tell(JsonSlice notification) {
    streams.send(notification);
  }

  /** A request was received from a caller, whose rights may have changed. */
  void use(Principal current) {
    caller = caller.withPrincipal(current);
    use();
  }

  private void use() {
    lastUsedNanos = System.nanoTime();
  }

  boolean isIdleSince(long nanos) {
    return !streams.isListening() && requests.isEmpty() && lastUsedNanos - nanos < 0;
  }

  /** Whether the other nodes were last told before that time that the session is in use. */
  boolean wasRefreshedBefore(long nanos) {
    return refreshedNanos - nanos < 0;
  }

  void markRefreshed() {
    refreshedNanos = System.nanoTime();
  }

  /** Begins a stream; the session counts as used until the stream ends. */
  MessageStream begin(EventStream opened) {
    return streams.begin(opened.onClose(this::use));
  }

  /** Stores a subscription; ends the one it replaces, or this one if the session is over. */
  void subscribed(String uri, Runnable end) {
    Runnable previous = isOver ? end : subscriptions.put(uri, end);
    if (previous != null) {
      previous.run();
    }
  }

  void unsubscribed(String uri) {
    Runnable end = subscriptions.remove(uri);
    if (end != null) {
      end.run();
    }
  }

  /** Ends the session with its streams, subscriptions and unanswered requests to the client. */
  void end() {
    isOver = true;
    streams.end();
    List.copyOf(subscriptions.keySet()).forEach(this::unsubscribed);
    sentRequests.failAll();
  }
}
