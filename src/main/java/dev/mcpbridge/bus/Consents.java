package dev.mcpbridge.bus;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/** The addresses and messages of authorizations of callers at servers. */
public final class Consents {
  private static final long TIMEOUT_MILLIS = 30_000;

  /** A caller has granted access; the value is the name of its request. */
  public static final Topic<String> GIVEN = Topic.toAllNodes("consents.given", WireCodecs.TEXT);

  private static final WireCodec<Request> REQUEST =
      new WireCodec<>(
          (out, request) ->
              out.text(request.bridgeUrl())
                  .text(request.state())
                  .optional(request.scope(), WireWriter::text),
          in -> new Request(in.text(), in.text(), in.optional(WireReader::text)));

  private static final WireCodec<Begun> BEGUN =
      new WireCodec<>(
          (out, begun) -> out.text(begun.url()).text(begun.pending()),
          in -> new Begun(in.text(), in.text()));

  private static final WireCodec<Answer> ANSWER =
      new WireCodec<>(
          (out, answer) ->
              out.text(answer.principal())
                  .optional(answer.client(), WireWriter::text)
                  .text(answer.pending())
                  .text(answer.code()),
          in -> new Answer(in.text(), in.optional(WireReader::text), in.text(), in.text()));

  private Consents() {}

  /** Begins an authorization at the node that runs the server. */
  public static Address<Request, Begun> begin(ServerId server) {
    return Address.atOwner(
        InstanceId.first(server), "consent", REQUEST, BEGUN, unused -> TIMEOUT_MILLIS);
  }

  /** Redeems the answer of an authorization server. Returns the id of the server. */
  public static Address<Answer, ServerId> redeem(ServerId server) {
    return Address.atOwner(
        InstanceId.first(server), "redeem", ANSWER, WireCodecs.SERVER, unused -> TIMEOUT_MILLIS);
  }

  /** Revokes and deletes what a caller has granted at a server. */
  public static Address<String, ServerId> forget(ServerId server) {
    return Address.atOwner(
        InstanceId.first(server),
        "forget",
        WireCodecs.TEXT,
        WireCodecs.SERVER,
        unused -> TIMEOUT_MILLIS);
  }

  /**
   * Begins an authorization.
   *
   * @param bridgeUrl URL at which browsers reach the bridge
   * @param state returned by the authorization server
   * @param scope null if unknown
   */
  public record Request(String bridgeUrl, String state, String scope) {}

  /**
   * An authorization that has begun.
   *
   * @param url where the browser is sent
   * @param pending what the answer is redeemed with; secret
   */
  public record Begun(String url, String pending) {
    @Override
    public String toString() {
      return "an authorization";
    }
  }

  /**
   * The answer of an authorization server.
   *
   * @param client of the principal; null for a principal without one
   */
  public record Answer(String principal, String client, String pending, String code) {
    @Override
    public String toString() {
      return "the answer for " + principal;
    }
  }
}
