package dev.mcpbridge.bus;

import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;

/** All addresses and topics of the bridge, with the types of their messages. */
public final class Addresses {
  private static final long GRACE_MILLIS = 1_000;
  private static final long QUERY_MILLIS = 1_000;
  private static final long WATCH_MILLIS = 30_000;
  private static final long RESTART_MILLIS = 600_000;
  private static final long HUMAN_MILLIS = 3_600_000;

  /** Starts a server at run time from a definition in the format of the API. */
  public static final Address<JsonSlice, ServerView> START_SERVER = Address.local("servers.start");

  /** Stops and removes a server. Completes when its processes have ended. */
  public static final Address<ServerId, ServerId> STOP_SERVER = Address.local("servers.stop");

  /** An instance of a server, published on every change except of its counters. */
  public static final Topic<ServerView> INSTANCE_CHANGED =
      Topic.toAllNodes("parts.changed", ServerViewCodec.WHOLE);

  /** A server after a change, merged from all instances that this node has received. */
  public static final Topic<ServerView> SERVER_CHANGED = Topic.local("servers.changed");

  /** Changes of resources that have a subscriber. */
  public static final Topic<ResourceUpdate> RESOURCE_UPDATED =
      Topic.toAllNodes("resources.updated", WireCodecs.RESOURCE_UPDATE);

  /** An instance of a server has stopped; it may start again, on this or another node. */
  public static final Topic<InstanceStopped> INSTANCE_STOPPED =
      Topic.toAllNodes("parts.gone", WireCodecs.INSTANCE_STOPPED);

  /** A server was removed. */
  public static final Topic<ServerId> SERVER_REMOVED = Topic.local("servers.forgotten");

  /** Another node has connected and has no state yet. The value is its slot. */
  public static final Topic<Integer> NODE_CONNECTED = Topic.local("nodes.connected");

  /** The {@link Caller#conversation()} of clients whose session has ended. */
  public static final Topic<String> CONVERSATION_ENDED =
      Topic.toAllNodes("conversations.over", WireCodecs.TEXT);

  /** A message from the client of a session that the receiving node cannot match itself. */
  public static final Topic<SessionMessage> SESSION_MESSAGE_RECEIVED =
      Topic.toAllNodes("sessions.said", WireCodecs.SESSION_MESSAGE);

  /** A message for the client of a session whose stream is open at another node. */
  public static final Topic<SessionMessage> SESSION_MESSAGE_FOR_CLIENT =
      Topic.toAllNodes("sessions.told", WireCodecs.SESSION_MESSAGE);

  /** The id of a background call that its caller has cancelled. */
  public static final Topic<String> BACKGROUND_CALL_CANCELLED =
      Topic.toAllNodes("calls.background.givenup", WireCodecs.TEXT);

  /** The events of {@code /events}. */
  public static final Topic<BridgeEvent> EVENTS = Topic.toAllNodes("events", WireCodecs.EVENT);

  /** The audit trail. Served only if there is one. */
  public static final Address<AuditRecord, Void> AUDIT = Address.local("audit.record");

  /** What webhooks receive. Served only if there are any. */
  public static final Address<Notice, Void> NOTICES = Address.local("notices");

  private Addresses() {}

  /**
   * The remaining time of a call plus a grace period, since the owner of the server enforces the
   * deadline. The deadline is suspended while the server waits for the client's input.
   */
  private static long callTimeout(Call call) {
    long remaining = (call.deadlineNanos() - System.nanoTime()) / 1_000_000;
    boolean mayNeedInput = call.envelope().capabilities().length() > 2;
    return Math.max(0, remaining) + (mayNeedInput ? HUMAN_MILLIS : GRACE_MILLIS);
  }

  /** Runs a call at any instance of its server. Returns the result as bytes. */
  public static Address<Call, JsonSlice> call(ServerId server) {
    return Address.atAnyOwner(
        server, "call", WireCodecs.CALL, WireCodecs.JSON, Addresses::callTimeout);
  }

  /** Runs a call of a server in a container. Returns the result and where it ran. */
  public static Address<Call, JsonSlice> isolated(ServerId server) {
    return Address.atAnyOwner(
        server, "isolated", WireCodecs.CALL, WireCodecs.JSON, Addresses::callTimeout);
  }

  /** Waits for the catalogue; starts a lazy server. The request is the timeout in milliseconds. */
  public static Address<Long, ServerView> ready(ServerId server) {
    return Address.atAnyOwner(
        server, "ready", WireCodecs.NUMBER, ServerViewCodec.WHOLE, millis -> millis + GRACE_MILLIS);
  }

  /** An instance with its current counters. */
  public static Address<ServerId, ServerView> view(InstanceId instanceId) {
    return Address.atOwner(
        instanceId, "view", WireCodecs.SERVER, ServerViewCodec.COUNTERS, unused -> QUERY_MILLIS);
  }

  /** The number of calls of an instance that wait for a container. */
  public static Address<ServerId, Long> waiting(InstanceId instanceId) {
    return Address.atOwner(
        instanceId, "waiting", WireCodecs.SERVER, WireCodecs.NUMBER, unused -> QUERY_MILLIS);
  }

  /** Replaces the processes of an instance; queued calls wait. */
  public static Address<ServerId, ServerView> restart(InstanceId instanceId) {
    return Address.atOwner(
        instanceId, "restart", WireCodecs.SERVER, ServerViewCodec.WHOLE, unused -> RESTART_MILLIS);
  }

  /** Forgets the results that are kept of the calls of an instance. */
  public static Address<ServerId, ServerView> clearCache(InstanceId instanceId) {
    return Address.atOwner(
        instanceId,
        "clear-cache",
        WireCodecs.SERVER,
        ServerViewCodec.WHOLE,
        unused -> RESTART_MILLIS);
  }

  /**
   * Starts or stops watching one resource at an instance; each start needs a matching stop. Returns
   * the conversation whose upstream will report changes, as in {@link ResourceUpdate}.
   */
  public static Address<ResourceSubscription, String> watch(InstanceId instanceId) {
    return Address.atOwner(
        instanceId,
        "watch",
        WireCodecs.RESOURCE_SUBSCRIPTION,
        WireCodecs.TEXT_OR_NULL,
        resourceSubscription -> WATCH_MILLIS);
  }

  /** A server's request to the client of a running call. Returns the client's result. */
  public static Address<ServerRequest, JsonSlice> clientRequest(String callId) {
    return new Address<>(
        "question",
        AddressScope.caller(callId),
        WireCodecs.SERVER_REQUEST,
        WireCodecs.JSON,
        serverRequest -> HUMAN_MILLIS);
  }

  /** A result that is too large for all nodes. The request is the name of its record in the map. */
  public static Address<String, JsonSlice> largeResult(String map, int slot) {
    AddressScope node = AddressScope.node(slot);
    return new Address<>(
        "results." + map, node, WireCodecs.TEXT, WireCodecs.JSON, name -> WATCH_MILLIS);
  }

  /** Progress and log messages of one streaming call. */
  public static Topic<CallEvent> callEvents(String callId) {
    return new Topic<>("events", AddressScope.caller(callId), WireCodecs.CALL_EVENT);
  }

  /** An instance of a server no longer runs at the given location. */
  public record InstanceStopped(ServerId server, InstanceLocation from) {}

  /** Starts or stops a subscription to changes of a resource. */
  public record ResourceSubscription(String uri, boolean isStart, Caller caller) {}

  /**
   * A resource has changed.
   *
   * @param conversation the conversation whose upstream reported it; null for a shared upstream
   * @param params params of the notification, as the server sent them
   */
  public record ResourceUpdate(
      ServerId server, String conversation, String uri, JsonSlice params) {}

  /**
   * A server's request to a client: {@code sampling/createMessage}, {@code elicitation/create} or
   * {@code roots/list}.
   */
  public record ServerRequest(String method, JsonSlice params) {

    /** Whether a client declares this capability; elicitation is checked by mode. */
    public boolean isFor(Envelope client) {
      String capability = method.substring(0, Math.max(0, method.indexOf('/')));
      if (!method.equals(McpMethod.ELICIT)) {
        return client.hasCapability(capability);
      }
      String mode = JsonObjects.string(JsonObjects.members(params).get("mode"));
      return client.supportsElicitation(mode == null ? "form" : mode);
    }
  }

  /** A message of a session that is forwarded to other nodes. */
  public record SessionMessage(String session, JsonSlice message) {}

  /** Cancels a call. */
  public record Cancellation(String callId, String reason) {}
}
