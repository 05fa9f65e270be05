package dev.mcpbridge.bus;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;

/** The addresses and messages about the calls that callers have made at a node. */
public final class NodeCalls {
  private static final long TIMEOUT_MILLIS = 3_000;

  private static final WireCodec<Question> QUESTION =
      new WireCodec<>(
          (out, question) -> out.text(question.caller()).flag(question.isAll()),
          in -> new Question(in.text(), in.flag()));

  private static final WireCodec<List<Entry>> ENTRIES =
      new WireCodec<>(
          (out, entries) ->
              out.list(
                  entries, (w, each) -> WireCodecs.json(w.number(each.atMillis()), each.json())),
          in -> in.list(each -> new Entry(each.number(), WireCodecs.json(each))));

  private static final WireCodec<Cancellation> CANCELLATION =
      new WireCodec<>(
          (out, cancellation) -> out.text(cancellation.callId()).text(cancellation.caller()),
          in -> new Cancellation(in.text(), in.text()));

  private static final WireCodec<Boolean> FOUND =
      new WireCodec<>(WireWriter::flag, in -> in.flag());

  /** The calls of this node. */
  public static final Address<Question, List<Entry>> OWN = Address.local("calls.list");

  /** Cancels a call that was made at this node. Returns whether it runs. */
  public static final Address<Cancellation, Boolean> CANCEL_OWN = Address.local("calls.cancel");

  private NodeCalls() {}

  /**
   * A query for calls.
   *
   * @param caller name of the principal that asks
   * @param isAll whether it may see the calls of others
   */
  public record Question(String caller, boolean isAll) {}

  /**
   * A call.
   *
   * @param atMillis when it was made, by the wall clock
   */
  public record Entry(long atMillis, JsonSlice json) {}

  /** A caller cancels one of its calls. */
  public record Cancellation(String callId, String caller) {}

  /** The calls of a node that run or have just ended. */
  public static Address<Question, List<Entry>> at(int slot) {
    return new Address<>(
        "calls.list", AddressScope.node(slot), QUESTION, ENTRIES, asked -> TIMEOUT_MILLIS);
  }

  /** Cancels a call that was made at a node. Returns whether it runs there. */
  public static Address<Cancellation, Boolean> cancelAt(int slot) {
    return new Address<>(
        "calls.cancel", AddressScope.node(slot), CANCELLATION, FOUND, asked -> TIMEOUT_MILLIS);
  }
}
