package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.EventBudget;
import dev.mcpbridge.http.mcp.reply.MessageStream;
import dev.mcpbridge.http.mcp.request.Client;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client of a revision with a handshake, from {@code initialize} to DELETE or expiry. Tracks its
 * declared capabilities, its running calls, the requests sent to it, and its streams.
 */
final class LegacySession implements Client {
  private static final Pattern EVENT_ID = Pattern.compile("(\\d{1,18})-(\\d{1,18})");

  private final Vertx vertx;
  private final String id;
  private final int node;
  private final SessionReplicator sessionReplicator;
  private final Principal principal;
  private final Caller caller;
  private final ServerId server;
  private final ProtocolVersion version;
  private final JsonSlice capabilities;
  private final EventBudget budget;
  private final Map<Long, MessageStream> streams = new HashMap<>();

  /** Unanswered requests by id, and whether they were cancelled. */
  private final Map<JsonSlice, Boolean> requests = new HashMap<>();

  private final Map<JsonSlice, McpRequest.RunningCall> runningCalls = new HashMap<>();
  private final Map<String, PendingServerRequest> pendingRequests = new HashMap<>();
  private final Map<String, Runnable> subscriptions = new HashMap<>();
  private MessageStream listenStream;
  private long streamCount;
  private String logLevel = "debug";
  private long lastUsedNanos = System.nanoTime();
  private long refreshedNanos = lastUsedNanos;
  private long requestCount;
  private boolean isOver;

  private record PendingServerRequest(JsonSlice requestId, Promise<JsonSlice> answer) {}

  /**
   * What a client declared in {@code initialize}.
   *
   * @param share key under which its shared limits are counted
   * @param server of its endpoint; null for all
   * @param capabilities null for none
   */
  record SessionParameters(
      Principal principal,
      String share,
      ServerId server,
      ProtocolVersion version,
      JsonSlice capabilities) {}

  /** Forwards to the other nodes of the cluster. */
  interface SessionReplicator {
    SessionReplicator NONE =
        new SessionReplicator() {
          @Override
          public void forwardMessage(String session, JsonSlice message) {
            // a single node
          }

          @Override
          public void forwardNotification(String session, JsonSlice message) {
            // a single node
          }

          @Override
          public Future<Void> replicate(String session, SessionRecord record) {
            return Future.succeededFuture();
          }
        };

    /** Forwards a message that concerns nothing at this node. */
    void forwardMessage(String session, JsonSlice message);

    /** Forwards a message for a stream that may be open at another node. */
    void forwardNotification(String session, JsonSlice message);

    /** Succeeds when the nodes have agreed on the record. */
    Future<Void> replicate(String session, SessionRecord record);
  }

  /**
   * @param node the slot of this node
   */
  LegacySession(
      Vertx vertx,
      EventBudget budget,
      String id,
      int node,
      SessionParameters sessionParameters,
      SessionReplicator sessionReplicator) {
    this.node = node;
    this.sessionReplicator = sessionReplicator;
    this.vertx = vertx;
    this.budget = budget;
    this.id = id;
    this.principal = sessionParameters.principal();
    this.caller = new Caller(principal.name(), id).withShare(sessionParameters.share());
    this.server = sessionParameters.server();
    this.version = sessionParameters.version();
    JsonSlice declared = sessionParameters.capabilities();
    this.capabilities = declared == null ? JsonSlice.EMPTY_OBJECT : declared.detached();
  }

  String id() {
    return id;
  }

  @Override
  public Principal principal() {
    return principal;
  }

  /** The caller of its calls. */
  Caller caller() {
    return caller;
  }

  @Override
  public String logLevel() {
    return logLevel;
  }

  @Override
  public JsonSlice capabilities() {
    return capabilities;
  }

  /** A request was received and will get a response. */
  void requestReceived(ClientMessage request) {
    requests.putIfAbsent(request.id(), false);
  }

  /** The request was answered. */
  void finished(ClientMessage request) {
    requests.remove(request.id());
  }

  @Override
  public boolean hasCancelled(McpRequest request) {
    return isOver || requests.getOrDefault(request.message().id(), false);
  }

  @Override
  public void callStarted(McpRequest request, McpRequest.RunningCall call) {
    runningCalls.put(request.message().id(), call);
  }

  @Override
  public void callEnded(McpRequest request) {
    runningCalls.remove(request.message().id());
  }

  /** The running call of a request; null for none. */
  McpRequest.RunningCall running(JsonSlice requestId) {
    return runningCalls.get(requestId);
  }

  /** Whether a request to this endpoint by this principal may use the session. */
  boolean belongsTo(Principal caller, ServerId endpoint) {
    return principal.name().equals(caller.name())
        && (server == null ? endpoint == null : server.equals(endpoint));
  }

  void use() {
    lastUsedNanos = System.nanoTime();
  }

  boolean isIdleSince(long nanos) {
    boolean listens = listenStream != null && listenStream.isConnected();
    return !listens && requests.isEmpty() && lastUsedNanos - nanos < 0;
  }

  boolean takesBatches() {
    return version == ProtocolVersion.V2025_03_26;
  }

  /** Succeeds when the nodes have agreed on it. */
  Future<Void> setLogLevel(String level) {
    logLevel = level;
    return sessionReplicator.replicate(id, record()).onSuccess(agreed -> logLevel = level);
  }

  /** Records when the other nodes were last informed that the session is in use. */
  void markRefreshed(long nanos) {
    refreshedNanos = nanos;
  }

  boolean wasRefreshedBefore(long nanos) {
    return refreshedNanos - nanos < 0;
  }

  /** Takes over a level that was set at another node. */
  void updateLogLevel(String level) {
    logLevel = level;
  }

  SessionRecord record() {
    return new SessionRecord(principal.name(), server, version, capabilities, logLevel);
  }

  @Override
  public String requestState(ClientMessage message) {
    return null;
  }

  @Override
  public boolean takesRequests() {
    return true;
  }

  @Override
  public Future<JsonSlice> settle(
      McpRequest request, Future<JsonSlice> result, Function<JsonSlice, Future<JsonSlice>> repeat) {
    return result.compose(first -> new InputRounds(request, this, repeat).settle(first));
  }

  /**
   * Sends a request to the client on the stream of the client's request that it concerns. A
   * disconnect is not a refusal: the client may respond in another request, until the timeout.
   */
  @Override
  public Future<JsonSlice> sendRequest(
      McpRequest request, String method, JsonSlice params, long timeoutMillis) {
    String requestId = "bridge-" + node + "-" + ++requestCount;
    if (!request.replyChannel().send(RpcWriter.request(requestId, method, params).toSlice())) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN, "The client accepts no requests on this stream"));
    }
    Promise<JsonSlice> answer = Promise.promise();
    pendingRequests.put(requestId, new PendingServerRequest(request.message().id(), answer));
    long timer = vertx.setTimer(Math.max(1, timeoutMillis), t -> answer.tryFail(timedOut()));
    return answer
        .future()
        .onComplete(
            done -> {
              vertx.cancelTimer(timer);
              pendingRequests.remove(requestId);
            });
  }

  /**
   * Cancels a request of the client, and fails the requests sent to the client for it.
   *
   * @return whether this node has the request and it is not answered
   */
  boolean cancelled(JsonSlice requestId) {
    List.copyOf(pendingRequests.values()).stream()
        .filter(pending -> pending.requestId().equals(requestId))
        .forEach(pending -> pending.answer().tryFail(disconnected()));
    return requests.replace(requestId, true) != null;
  }

  /** Handles a response of the client; drops one that no node waits for. */
  void responseReceived(ClientMessage message) {
    if (!completeRequest(message)) {
      sessionReplicator.forwardMessage(id, message.response().detached());
    }
  }

  /** Forwards a notification that may concern another node. */
  void forwardNotification(ClientMessage notification) {
    JsonWriter params = new JsonWriter().beginObject();
    notification.params().forEach(params::member);
    sessionReplicator.forwardMessage(
        id, RpcWriter.notification(notification.method(), params.endObject().toSlice()).toSlice());
  }

  /** Completes the matching request; false if this node has none. */
  boolean completeRequest(ClientMessage message) {
    PendingServerRequest pending = pendingRequests.get(JsonObjects.string(message.id()));
    if (pending != null) {
      Map<String, JsonSlice> answer = JsonObjects.members(message.response());
      if (answer.containsKey("result")) {
        pending.answer().tryComplete(answer.get("result").detached());
      } else {
        pending.answer().tryFail(rejected(answer.get("error").detached()));
      }
    }
    return pending != null;
  }

  /** Opens a stream that the client may resume over another connection. */
  MessageStream begin(EventStream opened) {
    if (isOver) {
      return MessageStream.on(opened);
    }
    long name = ++streamCount;
    MessageStream stream = MessageStream.kept(name, budget, () -> streams.remove(name));
    streams.put(name, stream);
    stream.connect(opened.onClose(this::use));
    return version == ProtocolVersion.V2025_11_25 ? stream.mark() : stream;
  }

  /** Sets the stream for messages that belong to no request; ends the previous one. */
  void listen(MessageStream opened) {
    MessageStream previous = listenStream;
    listenStream = opened;
    if (previous != null) {
      previous.end();
    }
  }

  /**
   * Finds a stream to resume.
   *
   * @param lastEventId id of the last event that the client received
   * @return resumes the stream over a connection
   * @throws BridgeException MALFORMED_REQUEST if the stream does not exist or has ended
   */
  Consumer<EventStream> resume(String lastEventId) {
    Matcher id = EVENT_ID.matcher(lastEventId);
    MessageStream stream = id.matches() ? streams.get(Long.parseLong(id.group(1))) : null;
    if (stream == null) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The Last-Event-ID is invalid or its stream is over");
    }
    long after = Long.parseLong(id.group(2));
    return opened -> stream.resume(opened, after);
  }

  /** Drops ended streams that clients have not resumed since. */
  void forgetStreams(long sinceNanos) {
    List.copyOf(streams.values()).stream()
        .filter(stream -> stream.isOverSince(sinceNanos))
        .forEach(MessageStream::end);
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

  void updated(JsonSlice params) {
    JsonSlice notification = RpcWriter.notification(McpMethod.RESOURCE_UPDATED, params).toSlice();
    if (listenStream == null) {
      sessionReplicator.forwardNotification(id, notification);
    } else {
      listenStream.send(notification);
    }
  }

  /** Sends a message on the client's stream, if it is open at this node. */
  void sendToListener(JsonSlice message) {
    if (listenStream != null) {
      listenStream.send(message);
    }
  }

  void changed(ServerId changed, List<String> methods) {
    if (listenStream != null && (server == null || server.equals(changed))) {
      methods.forEach(
          method ->
              listenStream.send(RpcWriter.notification(method, JsonSlice.EMPTY_OBJECT).toSlice()));
    }
  }

  /** Ends the session with its streams, subscriptions and pending requests. */
  void end() {
    isOver = true;
    if (listenStream != null) {
      listenStream.end();
    }
    List.copyOf(streams.values()).forEach(MessageStream::end);
    List.copyOf(subscriptions.keySet()).forEach(this::unsubscribed);
    List.copyOf(pendingRequests.values())
        .forEach(pending -> pending.answer().tryFail(disconnected()));
  }

  private static BridgeException timedOut() {
    return new BridgeException(
        ErrorCode.CONFIRMATION_EXPIRED, "The client did not respond in time");
  }

  private static BridgeException rejected(JsonSlice error) {
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, "The client responded with an error")
        .with("upstream", error);
  }

  private static BridgeException disconnected() {
    return new BridgeException(ErrorCode.CANCELLED, "The client disconnected without a response");
  }
}
