package dev.mcpbridge.bus;

import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import java.util.List;
import java.util.Locale;

/** Every address of the bridge, and what is said there. */
public final class Addresses {
  private static final long GRACE_MILLIS = 1_000;
  private static final long LOOK_MILLIS = 1_000;
  private static final long WATCH_MILLIS = 30_000;
  private static final long RESTART_MILLIS = 600_000;
  private static final long HUMAN_MILLIS = 3_600_000;

  /** Is this target of that server free to run? */
  public static final Address<Assessment, Decision> ASSESS = Address.here("risk.assess");

  /** The gate's grading as it is now, for lists; nothing is said with the question. */
  public static final Address<Void, RiskGrading> GRADING = Address.here("risk.grading");

  /** Keeps a call until a human decides. */
  public static final Address<ConfirmationRequest, PendingConfirmation> CONFIRM_LATER =
      Address.here("risk.confirmations.add");

  /** A human's word; an approval answers the call to run, a rejection answers null. */
  public static final Address<HumanDecision, Confirmation> DECIDE =
      Address.here("risk.confirmations.decide");

  /** The call of an approved confirmation has ended. */
  public static final Address<ApprovedOutcome, Void> APPROVED_ENDED =
      Address.here("risk.confirmations.ended");

  /** How one confirmation stands. */
  public static final Address<ConfirmationQuery, ConfirmationState> CONFIRMATION =
      Address.here("risk.confirmations.look");

  /** The pending confirmations that somebody may see. */
  public static final Address<Viewer, List<Confirmation>> CONFIRMATIONS =
      Address.here("risk.confirmations.list");

  /** Starts a server at run time from a definition as the API takes it. */
  public static final Address<JsonSlice, ServerView> START_SERVER = Address.here("servers.start");

  /** Stops and forgets a server; answers when its processes are gone. */
  public static final Address<ServerId, ServerId> STOP_SERVER = Address.here("servers.stop");

  /** A part of a server as it is now, whenever anything of it but its counters changed. */
  public static final Topic<ServerView> PART_CHANGED =
      Topic.everywhere("parts.changed", ServerViewCodec.WHOLE);

  /** A server as it is now, with all its parts that this node has heard of. */
  public static final Topic<ServerView> SERVER_CHANGED = Topic.here("servers.changed");

  /** Changes of resources that somebody watches. */
  public static final Topic<ResourceUpdate> RESOURCE_UPDATED =
      Topic.everywhere("resources.updated", WireCodecs.RESOURCE_UPDATE);

  /** A part of a server has stopped; it may come back, here or on another node. */
  public static final Topic<InstanceStopped> PART_GONE =
      Topic.everywhere("parts.gone", WireCodecs.DEPARTURE);

  /** A server is wanted no more. */
  public static final Topic<ServerId> SERVER_FORGOTTEN = Topic.here("servers.forgotten");

  /** Another node is there, by its slot, which has heard of nothing yet. */
  public static final Topic<Integer> NODE_CONNECTED = Topic.here("nodes.connected");

  /** The {@link Caller#conversation()} of clients that have left for good. */
  public static final Topic<String> CONVERSATION_OVER =
      Topic.everywhere("conversations.over", WireCodecs.TEXT);

  /** What a client of a session said that the node which heard it knows nothing of. */
  public static final Topic<SessionMessage> SESSION_SAID =
      Topic.everywhere("sessions.said", WireCodecs.SESSION_MESSAGE);

  /** What is to be said to a client of a session that listens at another node. */
  public static final Topic<SessionMessage> SESSION_TOLD =
      Topic.everywhere("sessions.told", WireCodecs.SESSION_MESSAGE);

  /** A background call, by its id, that whoever asked for it wants no more. */
  public static final Topic<String> BACKGROUND_CALL_GIVEN_UP =
      Topic.everywhere("calls.background.givenup", WireCodecs.TEXT);

  /** What clients of {@code /events} hear. */
  public static final Topic<BridgeEvent> EVENTS = Topic.everywhere("events", WireCodecs.EVENT);

  private Addresses() {}

  /**
   * What is left of a call's time, and some more, since who has the server ends it in time; while a
   * client is asked that time stands still.
   */
  private static long patience(Call call) {
    long left = (call.deadlineNanos() - System.nanoTime()) / 1_000_000;
    boolean mayBeAsked = call.envelope().capabilities().length() > 2;
    return Math.max(0, left) + (mayBeAsked ? HUMAN_MILLIS : GRACE_MILLIS);
  }

  /** Runs a call at any part of its server; answers the result as bytes. */
  public static Address<Call, JsonSlice> call(ServerId server) {
    return Address.atAnyOwner(
        server, "call", WireCodecs.CALL, WireCodecs.JSON, Addresses::patience);
  }

  /** Runs a call of a server in a container; answers the result with where it ran. */
  public static Address<Call, JsonSlice> isolated(ServerId server) {
    return Address.atAnyOwner(
        server, "isolated", WireCodecs.CALL, WireCodecs.JSON, Addresses::patience);
  }

  /** Gives up calls of a server, by their ids. */
  public static Topic<Cancellation> cancel(ServerId server) {
    return Topic.atOwners(server, "cancel", WireCodecs.CANCELLATION);
  }

  /** Waits, for so many milliseconds, until the server has a catalogue; starts it if it is lazy. */
  public static Address<Long, ServerView> ready(ServerId server) {
    return Address.atAnyOwner(
        server, "ready", WireCodecs.NUMBER, ServerViewCodec.WHOLE, millis -> millis + GRACE_MILLIS);
  }

  /** A part with its counters as they are at this moment. */
  public static Address<ServerId, ServerView> view(InstanceId instanceId) {
    return Address.atOwner(
        instanceId, "view", WireCodecs.SERVER, ServerViewCodec.COUNTERS, asked -> LOOK_MILLIS);
  }

  /** How many calls of a part wait for a container at this moment. */
  public static Address<ServerId, Long> waiting(InstanceId instanceId) {
    return Address.atOwner(
        instanceId, "waiting", WireCodecs.SERVER, WireCodecs.NUMBER, asked -> LOOK_MILLIS);
  }

  /** Replaces a part's processes; queued calls wait. */
  public static Address<ServerId, ServerView> restart(InstanceId instanceId) {
    return Address.atOwner(
        instanceId, "restart", WireCodecs.SERVER, ServerViewCodec.WHOLE, asked -> RESTART_MILLIS);
  }

  /**
   * Begins or ends to listen at a part for changes of one resource; each beginning needs its end.
   * Answers whose upstream will tell of them, as in {@link ResourceUpdate}.
   */
  public static Address<ResourceSubscription, String> watch(InstanceId instanceId) {
    return Address.atOwner(
        instanceId,
        "watch",
        WireCodecs.WATCH,
        WireCodecs.TEXT_OR_NULL,
        resourceSubscription -> WATCH_MILLIS);
  }

  /** What a server asks the client of one call, while that runs; answers the client's result. */
  public static Address<ServerRequest, JsonSlice> question(String callId) {
    return new Address<>(
        "question",
        AddressScope.caller(callId),
        WireCodecs.QUESTION,
        WireCodecs.JSON,
        serverRequest -> HUMAN_MILLIS);
  }

  /** Progress and log messages of one streaming call. */
  public static Topic<CallEvent> callEvents(String callId) {
    return new Topic<>("events", AddressScope.caller(callId), WireCodecs.CALL_EVENT);
  }

  /** A part of a server does not run any more where it did. */
  public record InstanceStopped(ServerId server, InstanceLocation from) {}

  /** Somebody wants to hear of a resource's changes, or not any more. */
  public record ResourceSubscription(String uri, boolean wanted, Caller by) {}

  /**
   * A resource is not what it was.
   *
   * @param conversation whose upstream says so; null where it is everybody's
   * @param params of the notification, as the server sent them
   */
  public record ResourceUpdate(
      ServerId server, String conversation, String uri, JsonSlice params) {}

  /**
   * A server's request to a client: {@code sampling/createMessage}, {@code elicitation/create} or
   * {@code roots/list}.
   */
  public record ServerRequest(String method, JsonSlice params) {

    /** Whether a client declares that it can answer; forms and addresses are told apart. */
    public boolean isFor(Envelope client) {
      String capability = method.substring(0, Math.max(0, method.indexOf('/')));
      if (!method.equals(McpMethod.ELICIT)) {
        return client.offers(capability);
      }
      String mode = JsonObjects.string(JsonObjects.members(params).get("mode"));
      return client.elicits(mode == null ? "form" : mode);
    }
  }

  /** A question to the gate. */
  public record Assessment(Target target, RiskRules rules, boolean destructive) {}

  /** The gate's answer. */
  public enum Decision {
    ALLOW,
    CONFIRM,
    ISOLATE
  }

  /**
   * A call that needs a human.
   *
   * @param definitionDigest of the tool as it is now
   */
  public record ConfirmationRequest(Call call, String definitionDigest) {}

  /**
   * A call that is kept.
   *
   * @param token to be shown once to the caller; null where an operator decides
   */
  public record PendingConfirmation(Confirmation confirmation, String token) {}

  /**
   * What a human says about it.
   *
   * @param token null where none came
   */
  public record HumanDecision(String confirmationId, boolean confirm, String token, Viewer by) {}

  /** What is known of the effect of a call that was approved. */
  public record ApprovedOutcome(String id, Executed executed) {}

  /**
   * Somebody who looks at confirmations.
   *
   * @param approver whether they hold the scope {@code approve}
   */
  public record Viewer(String name, boolean approver) {}

  /** Somebody looks at one confirmation. */
  public record ConfirmationQuery(String id, Viewer by) {}

  /**
   * How a confirmation stands.
   *
   * @param confirmation without arguments once it is decided
   * @param executed what is known of its call's effect; null before it is decided
   */
  public record ConfirmationState(Confirmation confirmation, Status status, Executed executed) {
    /** Whether a human has decided, and how. */
    public enum Status {
      PENDING,
      APPROVED,
      REJECTED,
      EXPIRED;

      /** As the API spells it. */
      public String word() {
        return name().toLowerCase(Locale.ROOT);
      }
    }
  }

  /** A message of a session, on its way between nodes. */
  public record SessionMessage(String session, JsonSlice message) {}

  /** A call to be given up, and why. */
  public record Cancellation(String callId, String reason) {}

  /**
   * Something that clients of {@code /events} may hear.
   *
   * @param audience the caller who may hear it, null for everybody
   */
  public record BridgeEvent(String name, JsonSlice data, String audience) {}
}
