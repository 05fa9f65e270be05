package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.Commit;
import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.Found;
import dev.mcpbridge.cluster.agreement.Message.FoundOk;
import dev.mcpbridge.cluster.agreement.Message.Founded;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.Hail;
import dev.mcpbridge.cluster.agreement.Message.Hailed;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Ping;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.PrepareOk;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** The bytes of messages: a number for the kind, then the fields in their order. */
final class Messages {
  private static final Map<Class<?>, Form<?>> BY_CLASS = new LinkedHashMap<>();
  private static final Map<Integer, Form<?>> BY_NUMBER = new HashMap<>();

  private record Form<M extends Message>(
      int number, BiConsumer<WireWriter, M> write, Function<WireReader, M> read) {}

  static {
    add(
        1,
        Propose.class,
        (out, m) -> Entry.write(out.number(m.view()), m.entry()),
        in -> new Propose(in.number(), Entry.read(in)));
    add(
        2,
        Prepare.class,
        (out, m) -> Entry.write(out.number(m.view()).number(m.op()).number(m.commit()), m.entry()),
        in -> new Prepare(in.number(), in.number(), in.number(), Entry.read(in)));
    add(
        3,
        PrepareOk.class,
        (out, m) -> out.number(m.view()).number(m.op()),
        in -> new PrepareOk(in.number(), in.number()));
    add(
        4,
        Commit.class,
        (out, m) -> out.number(m.view()).number(m.commit()),
        in -> new Commit(in.number(), in.number()));
    add(
        5,
        Ping.class,
        (out, m) ->
            out.number(m.view())
                .number(m.op())
                .number(m.commit())
                .number(m.sentNanos())
                .number(m.echoNanos())
                .number(m.grantNanos()),
        in ->
            new Ping(in.number(), in.number(), in.number(), in.number(), in.number(), in.number()));
    add(
        6,
        Pong.class,
        (out, m) -> out.number(m.view()).number(m.op()).number(m.echoNanos()).number(m.sentNanos()),
        in -> new Pong(in.number(), in.number(), in.number(), in.number()));
    add(
        7,
        StartViewChange.class,
        (out, m) -> out.number(m.view()).flag(m.released()),
        in -> new StartViewChange(in.number(), in.flag()));
    add(
        8,
        DoViewChange.class,
        (out, m) ->
            out.number(m.view())
                .number(m.lastNormal())
                .number(m.op())
                .number(m.commit())
                .number(m.promiseNanos()),
        in -> new DoViewChange(in.number(), in.number(), in.number(), in.number(), in.number()));
    add(
        9,
        StartView.class,
        (out, m) -> out.number(m.view()).number(m.op()).number(m.commit()),
        in -> new StartView(in.number(), in.number(), in.number()));
    add(
        10,
        GetState.class,
        (out, m) -> out.number(m.view()).number(m.after()),
        in -> new GetState(in.number(), in.number()));
    add(
        11,
        NewState.class,
        (out, m) ->
            out.number(m.view())
                .number(m.commit())
                .number(m.base())
                .optional(m.snapshot(), WireWriter::bytes)
                .list(m.entries(), Entry::write),
        in ->
            new NewState(
                in.number(),
                in.number(),
                in.number(),
                in.optional(WireReader::bytes),
                in.list(Entry::read)));
    add(12, Hail.class, (out, m) -> out.number(m.nonce()), in -> new Hail(in.number()));
    add(
        13,
        Hailed.class,
        (out, m) -> out.number(m.nonce()).octet(m.kind().ordinal()).number(m.view()).number(m.op()),
        in -> new Hailed(in.number(), kind(in.octet()), in.number(), in.number()));
    add(14, Found.class, (out, m) -> out.number(m.generation()), in -> new Found(in.number()));
    add(
        15,
        FoundOk.class,
        (out, m) -> out.number(m.generation()).flag(m.isSettled()),
        in -> new FoundOk(in.number(), in.flag()));
    add(
        16,
        Founded.class,
        (out, m) -> out.number(m.generation()).number(m.view()),
        in -> new Founded(in.number(), in.number()));
  }

  private Messages() {}

  @SuppressWarnings("unchecked") // a form stands under the class that it writes
  static void write(WireWriter out, Message message) {
    Form<Message> form = (Form<Message>) BY_CLASS.get(message.getClass());
    form.write().accept(out.octet(form.number()), message);
  }

  static Message read(WireReader in) {
    int number = in.octet();
    Form<?> form = BY_NUMBER.get(number);
    if (form == null) {
      throw new IllegalArgumentException("no message has the number " + number);
    }
    return form.read().apply(in);
  }

  private static Hailed.Kind kind(int ordinal) {
    Hailed.Kind[] kinds = Hailed.Kind.values();
    return kinds[Math.min(ordinal, kinds.length - 1)];
  }

  private static <M extends Message> void add(
      int number, Class<M> type, BiConsumer<WireWriter, M> write, Function<WireReader, M> read) {
    Form<M> form = new Form<>(number, write, read);
    BY_CLASS.put(type, form);
    BY_NUMBER.put(number, form);
  }
}
