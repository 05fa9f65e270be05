package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.SessionRecords.SessionRecord;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client of a revision with a handshake, from {@code initialize} to DELETE or its expiry. Knows
 * what it declared, what runs for it, what it was asked, and the stream it listens on.
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

  /** By their ids, the requests that have no answer, and whether they were given up. */
  private final Map<JsonSlice, Boolean> requests = new HashMap<>();

  private final Map<JsonSlice, McpRequest.RunningCall> running = new HashMap<>();
  private final Map<String, PendingServerRequest> asked = new HashMap<>();
  private final Map<String, Runnable> subscriptions = new HashMap<>();
  private MessageStream listening;
  private long streamCount;
  private String logLevel = "debug";
  private long lastUsedNanos = System.nanoTime();
  private long toldNanos = lastUsedNanos;
  private long questions;
  private boolean over;

  private record PendingServerRequest(JsonSlice requestId, Promise<JsonSlice> answer) {}

  /**
   * What a client said when it came.
   *
   * @param share whose share of what is bounded it takes
   * @param server of the endpoint it came to; null for all
   * @param capabilities null for none
   */
  record SessionParameters(
      Principal principal,
      String share,
      ServerId server,
      ProtocolVersion version,
      JsonSlice capabilities) {}

  /** The other nodes that know this session. */
  interface SessionReplicator {
    SessionReplicator NONE =
        new SessionReplicator() {
          @Override
          public void said(String session, JsonSlice message) {
            // there is nobody else
          }

          @Override
          public void tell(String session, JsonSlice message) {
            // nobody else listens
          }

          @Override
          public Future<Void> changed(String session, SessionRecord record) {
            return Future.succeededFuture();
          }
        };

    /** The client said something that is not known here. */
    void said(String session, JsonSlice message);

    /** The client may listen there. */
    void tell(String session, JsonSlice message);

    /** Done when they have agreed on it. */
    Future<Void> changed(String session, SessionRecord record);
  }

  /**
   * @param node which of the nodes this is
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

  /** Who its calls are made by. */
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

  /** A request has come, and will have an answer. */
  void took(Inbound request) {
    requests.putIfAbsent(request.id(), false);
  }

  /** It has its answer. */
  void finished(Inbound request) {
    requests.remove(request.id());
  }

  @Override
  public boolean hasGivenUp(McpRequest request) {
    return over || requests.getOrDefault(request.message().id(), false);
  }

  @Override
  public void began(McpRequest request, McpRequest.RunningCall call) {
    running.put(request.message().id(), call);
  }

  @Override
  public void ended(McpRequest request) {
    running.remove(request.message().id());
  }

  /** The call that runs for a request of the client; null for none. */
  McpRequest.RunningCall running(JsonSlice requestId) {
    return running.get(requestId);
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
    boolean listens = listening != null && listening.isConnected();
    return !listens && requests.isEmpty() && lastUsedNanos - nanos < 0;
  }

  boolean takesBatches() {
    return version == ProtocolVersion.V2025_03_26;
  }

  /** Done when the nodes have agreed on it. */
  Future<Void> setLogLevel(String level) {
    logLevel = level;
    return sessionReplicator.changed(id, record()).onSuccess(known -> logLevel = level);
  }

  /** All nodes are told that it is in use. */
  void told(long nanos) {
    toldNanos = nanos;
  }

  boolean wasToldBefore(long nanos) {
    return toldNanos - nanos < 0;
  }

  /** What it was told at another node. */
  void hears(String level) {
    logLevel = level;
  }

  SessionRecord record() {
    return new SessionRecord(principal.name(), server, version, capabilities, logLevel);
  }

  /**
   * Asks the client something on the stream of the request that it concerns. A client that goes
   * away has not said no: it may answer in another request, until the patience ends.
   */
  Future<JsonSlice> ask(McpRequest request, String method, JsonSlice params, long patienceMillis) {
    String question = "bridge-" + node + "-" + ++questions;
    if (!request.replyChannel().send(RpcReplies.request(question, method, params))) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN, "The client takes no questions on this request"));
    }
    Promise<JsonSlice> answer = Promise.promise();
    asked.put(question, new PendingServerRequest(request.message().id(), answer));
    long timer = vertx.setTimer(Math.max(1, patienceMillis), t -> answer.tryFail(unanswered()));
    return answer
        .future()
        .onComplete(
            done -> {
              vertx.cancelTimer(timer);
              asked.remove(question);
            });
  }

  /**
   * The client gives a request up: nothing that was asked for it is waited for any more.
   *
   * @return whether that request has come here and has no answer
   */
  boolean cancelled(JsonSlice requestId) {
    List.copyOf(asked.values()).stream()
        .filter(question -> question.requestId().equals(requestId))
        .forEach(question -> question.answer().tryFail(left()));
    return requests.replace(requestId, true) != null;
  }

  /** Takes an answer of the client; one that nobody waits for is dropped. */
  void answered(Inbound message) {
    if (!takesAnswer(message)) {
      sessionReplicator.said(id, message.answer().detached());
    }
  }

  /** A notification that may concern what another node does. */
  void unknownHere(Inbound notification) {
    JsonWriter params = new JsonWriter().beginObject();
    notification.params().forEach(params::member);
    sessionReplicator.said(
        id, RpcReplies.notification(notification.method(), params.endObject().toSlice()));
  }

  /** Whether the answer was waited for here. */
  boolean takesAnswer(Inbound message) {
    PendingServerRequest question = asked.get(JsonObjects.string(message.id()));
    if (question != null) {
      Map<String, JsonSlice> answer = JsonObjects.members(message.answer());
      if (answer.containsKey("result")) {
        question.answer().tryComplete(answer.get("result").detached());
      } else {
        question.answer().tryFail(refused(answer.get("error").detached()));
      }
    }
    return question != null;
  }

  /** A stream over a connection, to which the client may come back over another. */
  MessageStream begin(EventStream opened) {
    if (over) {
      return MessageStream.on(opened);
    }
    long name = ++streamCount;
    MessageStream stream = MessageStream.kept(name, budget, () -> streams.remove(name));
    streams.put(name, stream);
    stream.connect(opened.onClose(this::use));
    return version == ProtocolVersion.V2025_11_25 ? stream.mark() : stream;
  }

  /** The stream for what belongs to no request; one at a time, the newest counts. */
  void listen(MessageStream opened) {
    MessageStream before = listening;
    listening = opened;
    if (before != null) {
      before.end();
    }
  }

  /**
   * Finds a stream again.
   *
   * @param lastEventId the last that the client has heard
   * @return goes on with it over a connection
   * @throws BridgeException MALFORMED_REQUEST where there is no such stream, or not any more
   */
  Consumer<EventStream> resume(String lastEventId) {
    Matcher id = EVENT_ID.matcher(lastEventId);
    MessageStream stream = id.matches() ? streams.get(Long.parseLong(id.group(1))) : null;
    if (stream == null) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "Last-Event-ID is of no stream that is kept here");
    }
    long after = Long.parseLong(id.group(2));
    return opened -> stream.resume(opened, after);
  }

  /** Drops what clients have not come back for since. */
  void forgetStreams(long sinceNanos) {
    List.copyOf(streams.values()).stream()
        .filter(stream -> stream.isOverSince(sinceNanos))
        .forEach(MessageStream::end);
  }

  /** Takes over a subscription to a resource; one that it has already ends, like one too late. */
  void subscribed(String uri, Runnable end) {
    Runnable before = over ? end : subscriptions.put(uri, end);
    if (before != null) {
      before.run();
    }
  }

  void unsubscribed(String uri) {
    Runnable end = subscriptions.remove(uri);
    if (end != null) {
      end.run();
    }
  }

  void updated(JsonSlice params) {
    JsonSlice news = RpcReplies.notification(McpMethod.RESOURCE_UPDATED, params);
    if (listening == null) {
      sessionReplicator.tell(id, news);
    } else {
      listening.send(news);
    }
  }

  /** Says something where the client listens, if that is here. */
  void tellListener(JsonSlice message) {
    if (listening != null) {
      listening.send(message);
    }
  }

  void changed(ServerId changed, List<String> methods) {
    if (listening != null && (server == null || server.equals(changed))) {
      methods.forEach(
          method -> listening.send(RpcReplies.notification(method, JsonSlice.EMPTY_OBJECT)));
    }
  }

  /** Everything that hangs on it ends. */
  void end() {
    over = true;
    if (listening != null) {
      listening.end();
    }
    List.copyOf(streams.values()).forEach(MessageStream::end);
    List.copyOf(subscriptions.keySet()).forEach(this::unsubscribed);
    List.copyOf(asked.values()).forEach(question -> question.answer().tryFail(left()));
  }

  private static BridgeException unanswered() {
    return new BridgeException(
        ErrorCode.CONFIRMATION_EXPIRED, "The client has not answered the question in time");
  }

  private static BridgeException refused(JsonSlice error) {
    return new BridgeException(
            ErrorCode.UPSTREAM_ERROR, "The client has answered the question with an error")
        .with("upstream", error);
  }

  private static BridgeException left() {
    return new BridgeException(ErrorCode.CANCELLED, "The client has left without an answer");
  }
}
