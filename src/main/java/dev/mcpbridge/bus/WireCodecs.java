package dev.mcpbridge.bus;

import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Addresses.SessionMessage;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Urgency;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Map;
import java.util.Set;

/** The codecs of calls, responses and notifications between nodes. */
public final class WireCodecs {
  static final WireCodec<String> TEXT = new WireCodec<>(WireWriter::text, WireReader::text);
  static final WireCodec<String> TEXT_OR_NULL =
      new WireCodec<>(
          (out, text) -> out.optional(text, WireWriter::text), in -> in.optional(WireReader::text));
  static final WireCodec<Long> NUMBER = new WireCodec<>(WireWriter::number, WireReader::number);
  static final WireCodec<InstanceStopped> INSTANCE_STOPPED =
      new WireCodec<>(
          (out, stopped) ->
              out.text(stopped.server().name()).part(stopped.from(), ServerViewCodec::residence),
          in -> new InstanceStopped(new ServerId(in.text()), in.part(ServerViewCodec::residence)));

  static final WireCodec<ServerId> SERVER =
      new WireCodec<>((out, id) -> out.text(id.name()), in -> new ServerId(in.text()));
  public static final WireCodec<JsonSlice> JSON =
      new WireCodec<>(WireCodecs::json, WireCodecs::json);
  public static final WireCodec<BridgeException> FAILURE = FailureCodec.CODEC;
  public static final WireCodec<Call> CALL = new WireCodec<>(WireCodecs::call, WireCodecs::call);
  public static final WireCodec<Confirmation> CONFIRMATION =
      new WireCodec<>(WireCodecs::confirmation, WireCodecs::confirmation);
  public static final WireCodec<PendingConfirmation> PENDING =
      new WireCodec<>(
          (out, pending) ->
              out.part(pending.confirmation(), WireCodecs::confirmation)
                  .optional(pending.token(), WireWriter::text),
          in ->
              new PendingConfirmation(
                  in.part(WireCodecs::confirmation), in.optional(WireReader::text)));
  static final WireCodec<Cancellation> CANCELLATION =
      new WireCodec<>(
          (out, c) -> out.text(c.callId()).text(c.reason()),
          in -> new Cancellation(in.text(), in.text()));
  static final WireCodec<SessionMessage> SESSION_MESSAGE =
      new WireCodec<>(
          (out, message) -> json(out.text(message.session()), message.message()),
          in -> new SessionMessage(in.text(), json(in)));
  static final WireCodec<CallEvent> CALL_EVENT =
      new WireCodec<>(
          (out, event) -> json(out.text(event.name()), event.data()),
          in -> new CallEvent(in.text(), json(in)));
  static final WireCodec<ServerRequest> SERVER_REQUEST =
      new WireCodec<>(
          (out, request) -> out.text(request.method()).optional(request.params(), WireCodecs::json),
          in -> new ServerRequest(in.text(), in.optional(WireCodecs::json)));
  static final WireCodec<ResourceSubscription> RESOURCE_SUBSCRIPTION =
      new WireCodec<>(
          (out, resourceSubscription) ->
              caller(
                  out.text(resourceSubscription.uri()).flag(resourceSubscription.isStart()),
                  resourceSubscription.caller()),
          in -> new ResourceSubscription(in.text(), in.flag(), caller(in)));
  static final WireCodec<ResourceUpdate> RESOURCE_UPDATE =
      new WireCodec<>(
          (out, update) ->
              json(
                  out.text(update.server().name())
                      .optional(update.conversation(), WireWriter::text)
                      .text(update.uri()),
                  update.params()),
          in ->
              new ResourceUpdate(
                  new ServerId(in.text()), in.optional(WireReader::text), in.text(), json(in)));
  static final WireCodec<BridgeEvent> EVENT =
      new WireCodec<>(
          (out, event) ->
              json(out.text(event.name()), event.data())
                  .optional(event.audience(), WireWriter::text)
                  .optional(event.server(), (each, server) -> each.text(server.name()))
                  .optional(event.tool(), WireWriter::text),
          in ->
              new BridgeEvent(
                  in.text(),
                  json(in),
                  in.optional(WireReader::text),
                  in.optional(each -> new ServerId(each.text())),
                  in.optional(WireReader::text)));

  private WireCodecs() {}

  static WireWriter json(WireWriter out, JsonSlice slice) {
    return out.bytes(slice.bytes(), slice.from(), slice.to());
  }

  static JsonSlice json(WireReader in) {
    return JsonSlice.of(in.bytes());
  }

  /** The clocks of nodes differ, so the deadline is sent as remaining time. */
  private static void call(WireWriter out, Call call) {
    out.text(call.id())
        .text(call.server().name())
        .octet(call.target().kind().ordinal())
        .text(call.target().name());
    caller(json(out, call.arguments()), call.caller());
    out.number(Math.max(0, call.deadlineNanos() - System.nanoTime()))
        .flag(call.streaming())
        .part(call.envelope(), WireCodecs::envelope);
  }

  private static Call call(WireReader in) {
    return new Call(
        in.text(),
        new ServerId(in.text()),
        new Target(in.choice(Target.Kind.values()), in.text()),
        json(in),
        caller(in),
        System.nanoTime() + in.number(),
        in.flag(),
        in.part(WireCodecs::envelope),
        new CancellationToken());
  }

  private static void caller(WireWriter out, Caller caller) {
    out.part(caller.principal(), WireCodecs::principal)
        .optional(caller.session(), WireWriter::text)
        .optional(caller.authorization(), WireWriter::text)
        .text(caller.share())
        .optional(caller.door(), WireWriter::text);
  }

  private static Caller caller(WireReader in) {
    return new Caller(
        in.part(WireCodecs::principal),
        in.optional(WireReader::text),
        in.optional(WireReader::text),
        in.text(),
        null,
        origin(in.optional(WireReader::text)));
  }

  /** Without the address, which only the node that has received the request records. */
  private static Caller.Origin origin(String door) {
    return door == null ? null : new Caller.Origin(door, null);
  }

  /** Without the names of scopes: only the node that received a request asks for other tokens. */
  private static void principal(WireWriter out, Principal principal) {
    out.text(principal.name())
        .list(principal.scopes(), (each, scope) -> each.octet(scope.ordinal()))
        .list(principal.roles(), WireWriter::text)
        .optional(
            principal.token(),
            (each, token) ->
                each.text(token.issuer())
                    .optional(token.client(), WireWriter::text)
                    .number(token.expiresMillis())
                    .list(token.granted(), WireWriter::text));
  }

  private static Principal principal(WireReader in) {
    return new Principal(
        in.text(),
        Set.copyOf(in.list(each -> each.choice(Scope.values()))),
        Set.copyOf(in.list(WireReader::text)),
        in.optional(
            token ->
                new Principal.Token(
                    token.text(),
                    token.optional(WireReader::text),
                    token.number(),
                    Set.copyOf(token.list(WireReader::text)),
                    Map.of())));
  }

  private static void envelope(WireWriter out, Envelope envelope) {
    json(json(json(out, envelope.extras()), envelope.meta()), envelope.capabilities())
        .optional(envelope.logLevel(), WireWriter::text)
        .octet(envelope.urgency() + 1);
  }

  private static Envelope envelope(WireReader in) {
    return new Envelope(
        json(in),
        json(in),
        json(in),
        in.optional(WireReader::text),
        in.isAtEnd() ? Urgency.UNSPECIFIED : in.octet() - 1);
  }

  private static void confirmation(WireWriter out, Confirmation confirmation) {
    out.text(confirmation.id())
        .part(confirmation.call(), WireCodecs::call)
        .octet(confirmation.level().number())
        .text(confirmation.definitionDigest())
        .text(confirmation.digest())
        .number(confirmation.createdAtMillis())
        .number(confirmation.expiresAtMillis());
  }

  private static Confirmation confirmation(WireReader in) {
    return new Confirmation(
        in.text(),
        in.part(WireCodecs::call),
        RiskLevel.of(in.octet()).orElse(RiskLevel.HIGH),
        in.text(),
        in.text(),
        in.number(),
        in.number());
  }
}
