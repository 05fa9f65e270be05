package dev.mcpbridge.bus;

import dev.mcpbridge.bus.Addresses.BridgeEvent;
import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.Departure;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Question;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.SessionMessage;
import dev.mcpbridge.bus.Addresses.Watch;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/** How calls, answers and news travel between nodes. */
public final class Forms {
  static final Form<String> TEXT = new Form<>(WireWriter::text, WireReader::text);
  static final Form<String> TEXT_OR_NULL =
      new Form<>(
          (out, text) -> out.optional(text, WireWriter::text), in -> in.optional(WireReader::text));
  static final Form<Long> NUMBER = new Form<>(WireWriter::number, WireReader::number);
  static final Form<Departure> DEPARTURE =
      new Form<>(
          (out, gone) -> out.text(gone.server().name()).part(gone.from(), Views::residence),
          in -> new Departure(new ServerId(in.text()), in.part(Views::residence)));

  static final Form<ServerId> SERVER =
      new Form<>((out, id) -> out.text(id.name()), in -> new ServerId(in.text()));
  public static final Form<JsonSlice> JSON = new Form<>(Forms::json, Forms::json);
  public static final Form<BridgeException> FAILURE = Failures.FORM;
  public static final Form<Call> CALL = new Form<>(Forms::call, Forms::call);
  public static final Form<Confirmation> CONFIRMATION =
      new Form<>(Forms::confirmation, Forms::confirmation);
  public static final Form<PendingConfirmation> PENDING =
      new Form<>(
          (out, pending) ->
              out.part(pending.confirmation(), Forms::confirmation)
                  .optional(pending.token(), WireWriter::text),
          in ->
              new PendingConfirmation(in.part(Forms::confirmation), in.optional(WireReader::text)));
  static final Form<Cancellation> CANCELLATION =
      new Form<>(
          (out, c) -> out.text(c.callId()).text(c.reason()),
          in -> new Cancellation(in.text(), in.text()));
  static final Form<SessionMessage> SESSION_MESSAGE =
      new Form<>(
          (out, said) -> json(out.text(said.session()), said.message()),
          in -> new SessionMessage(in.text(), json(in)));
  static final Form<CallEvent> CALL_EVENT =
      new Form<>(
          (out, event) -> json(out.text(event.name()), event.data()),
          in -> new CallEvent(in.text(), json(in)));
  static final Form<Question> QUESTION =
      new Form<>(
          (out, q) -> out.text(q.method()).optional(q.params(), Forms::json),
          in -> new Question(in.text(), in.optional(Forms::json)));
  static final Form<Watch> WATCH =
      new Form<>(
          (out, watch) -> caller(out.text(watch.uri()).flag(watch.wanted()), watch.by()),
          in -> new Watch(in.text(), in.flag(), caller(in)));
  static final Form<ResourceUpdate> RESOURCE_UPDATE =
      new Form<>(
          (out, update) ->
              json(
                  out.text(update.server().name())
                      .optional(update.conversation(), WireWriter::text)
                      .text(update.uri()),
                  update.params()),
          in ->
              new ResourceUpdate(
                  new ServerId(in.text()), in.optional(WireReader::text), in.text(), json(in)));
  static final Form<BridgeEvent> EVENT =
      new Form<>(
          (out, event) ->
              json(out.text(event.name()), event.data())
                  .optional(event.audience(), WireWriter::text),
          in -> new BridgeEvent(in.text(), json(in), in.optional(WireReader::text)));

  private Forms() {}

  static WireWriter json(WireWriter out, JsonSlice slice) {
    return out.bytes(slice.bytes(), slice.from(), slice.to());
  }

  static JsonSlice json(WireReader in) {
    return JsonSlice.of(in.bytes());
  }

  /** Clocks differ, so a deadline travels as what is left of it. */
  private static void call(WireWriter out, Call call) {
    out.text(call.id())
        .text(call.server().name())
        .octet(call.target().kind().ordinal())
        .text(call.target().name());
    caller(json(out, call.arguments()), call.caller());
    out.number(Math.max(0, call.deadlineNanos() - System.nanoTime()))
        .flag(call.streaming())
        .part(call.envelope(), Forms::envelope);
  }

  private static Call call(WireReader in) {
    return new Call(
        in.text(),
        new ServerId(in.text()),
        new Target(Target.Kind.values()[in.octet()], in.text()),
        json(in),
        caller(in),
        System.nanoTime() + in.number(),
        in.flag(),
        in.part(Forms::envelope));
  }

  private static void caller(WireWriter out, Caller caller) {
    out.text(caller.name())
        .optional(caller.session(), WireWriter::text)
        .optional(caller.authorization(), WireWriter::text)
        .text(caller.share());
  }

  private static Caller caller(WireReader in) {
    return new Caller(
        in.text(), in.optional(WireReader::text), in.optional(WireReader::text), in.text());
  }

  private static void envelope(WireWriter out, Envelope envelope) {
    json(json(json(out, envelope.extras()), envelope.meta()), envelope.capabilities())
        .optional(envelope.logLevel(), WireWriter::text);
  }

  private static Envelope envelope(WireReader in) {
    return new Envelope(json(in), json(in), json(in), in.optional(WireReader::text));
  }

  private static void confirmation(WireWriter out, Confirmation confirmation) {
    out.text(confirmation.id())
        .part(confirmation.call(), Forms::call)
        .octet(confirmation.level().number())
        .text(confirmation.definitionDigest())
        .text(confirmation.digest())
        .number(confirmation.createdAtMillis())
        .number(confirmation.expiresAtMillis());
  }

  private static Confirmation confirmation(WireReader in) {
    return new Confirmation(
        in.text(),
        in.part(Forms::call),
        RiskLevel.of(in.octet()).orElse(RiskLevel.HIGH),
        in.text(),
        in.text(),
        in.number(),
        in.number());
  }
}
