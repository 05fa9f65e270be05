package dev.mcpbridge.bus;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * The addresses and messages for calls that wait at a node for their client, which repeats its
 * request with the input at any node.
 */
public final class Resumptions {
  /** Longer than a call may take, and its client for its input. */
  private static final long TIMEOUT_MILLIS = 86_400_000 + 3_600_000;

  private static final long WITHDRAWAL_MILLIS = 3_000;

  private static final WireCodec<Resumption> RESUMPTION =
      new WireCodec<>(Resumptions::write, Resumptions::read);

  private static final WireCodec<Withdrawal> WITHDRAWAL =
      new WireCodec<>(
          (out, gone) -> out.text(gone.id()).text(gone.principal()),
          in -> new Withdrawal(in.text(), in.text()));

  private static final WireCodec<Boolean> FOUND =
      new WireCodec<>(WireWriter::flag, WireReader::flag);

  private Resumptions() {}

  /**
   * A repeated request.
   *
   * @param id names the waiting call at its node
   * @param principal name of the caller
   * @param answer null if the request has no input
   */
  public record Resumption(
      String id,
      String principal,
      ServerId server,
      Target target,
      JsonSlice arguments,
      JsonSlice answer) {}

  /** Passes input to a call that waits at a node. Returns the next result for its client. */
  public static Address<Resumption, JsonSlice> at(int slot) {
    return new Address<>(
        "calls.resume",
        AddressScope.node(slot),
        RESUMPTION,
        WireCodecs.JSON,
        resumption -> TIMEOUT_MILLIS);
  }

  /**
   * The client of a resumed call has left.
   *
   * @param id names the call at its node
   * @param principal name of the caller
   */
  public record Withdrawal(String id, String principal) {}

  /** Withdraws a resumed call. Returns whether the call runs at the node. */
  public static Address<Withdrawal, Boolean> withdrawalAt(int slot) {
    return new Address<>(
        "calls.withdraw", AddressScope.node(slot), WITHDRAWAL, FOUND, gone -> WITHDRAWAL_MILLIS);
  }

  private static void write(WireWriter out, Resumption resumption) {
    out.text(resumption.id())
        .text(resumption.principal())
        .text(resumption.server().name())
        .octet(resumption.target().kind().ordinal())
        .text(resumption.target().name());
    WireCodecs.json(out, resumption.arguments()).optional(resumption.answer(), WireCodecs::json);
  }

  private static Resumption read(WireReader in) {
    return new Resumption(
        in.text(),
        in.text(),
        new ServerId(in.text()),
        new Target(in.choice(Target.Kind.values()), in.text()),
        WireCodecs.json(in),
        in.optional(WireCodecs::json));
  }
}
