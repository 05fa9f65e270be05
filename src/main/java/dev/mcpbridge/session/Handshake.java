package dev.mcpbridge.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Era;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.protocol.RpcError;
import io.vertx.core.Future;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The opening of a connection: the question of the stateless era first (basic/transports/stdio,
 * backward compatibility), and for a server that does not know it the handshake of the revisions up
 * to 2025-11-25 (basic/lifecycle): {@code initialize}, a version both sides speak, {@code
 * notifications/initialized}.
 *
 * <p>Sampling, elicitation and roots are announced, since a call may come from a client that has
 * them; for one that does not, the server's question is refused.
 */
public final class Handshake {
  private static final JsonSlice CAPABILITIES =
      JsonSlice.of("{\"sampling\":{},\"elicitation\":{\"form\":{}}}");
  private static final JsonSlice WITH_ROOTS =
      JsonObjects.with(CAPABILITIES, "roots", JsonSlice.EMPTY_OBJECT);

  /** What a server that runs may take for a question that it does not know, or for the second. */
  private static final long PROBE_MILLIS = 3_000;

  private Handshake() {}

  /** The longest that it takes: an older server may not answer the first question. */
  public static long patienceMillis(long timeoutMillis) {
    return Math.min(timeoutMillis, PROBE_MILLIS) + timeoutMillis;
  }

  /**
   * What the bridge has to say for itself.
   *
   * @param isElsewhere whether the server is reached over HTTP: it runs already, and may be another
   *     bridge, which is told at once that one asks
   * @param takesRoots whether the server may ask for roots
   */
  public record HandshakeOptions(
      Era era, boolean takesRoots, boolean isElsewhere, BridgeIdentity self) {}

  /**
   * @param session not used before; told of the era it is in
   */
  public static Future<Negotiated> perform(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    if (handshakeOptions.isElsewhere()) {
      session.follow(handshakeOptions.self().id());
    }
    return open(session, handshakeOptions, timeoutMillis)
        .map(negotiated -> acquainted(session, negotiated, handshakeOptions.self()));
  }

  /**
   * With another bridge, each request says which way it has come; with itself it does not speak.
   */
  private static Negotiated acquainted(
      Session session, Negotiated negotiated, BridgeIdentity self) {
    if (self.id().equals(negotiated.bridge())) {
      throw new BridgeException(ErrorCode.LOOP_DETECTED, "The server is this bridge itself");
    }
    session.follow(negotiated.bridge() == null ? null : self.id());
    return negotiated;
  }

  private static Future<Negotiated> open(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    return switch (handshakeOptions.era()) {
      case LEGACY -> initialize(session, handshakeOptions, timeoutMillis);
      case STATELESS -> Discover.perform(session, handshakeOptions.self(), timeoutMillis);
      case UNKNOWN -> find(session, handshakeOptions, timeoutMillis);
    };
  }

  /**
   * A process reads both questions once it has started, however late, and answers the second in the
   * wrong era: it has the whole time of a start for the first. A URL is of a server that runs.
   */
  private static Future<Negotiated> find(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    long untilMillis = millis() + patienceMillis(timeoutMillis);
    long patience =
        handshakeOptions.isElsewhere() ? Math.min(timeoutMillis, PROBE_MILLIS) : timeoutMillis;
    return Discover.perform(session, handshakeOptions.self(), patience)
        .recover(
            refusal -> {
              long left = Math.max(1, Math.min(timeoutMillis, untilMillis - millis()));
              return goOn(session, refusal, handshakeOptions, left);
            })
        .recover(failure -> Future.failedFuture(unopened(failure)));
  }

  private static long millis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /**
   * A refusal that only the stateless era knows is asked again; any other is of an older server.
   */
  private static Future<Negotiated> goOn(
      Session session, Throwable refusal, HandshakeOptions handshakeOptions, long timeoutMillis) {
    boolean isStateless =
        refusal instanceof BridgeException known
            && known.members().get("upstream") instanceof JsonSlice raw
            && RpcError.read(raw).code() == RpcError.UNSUPPORTED_VERSION;
    if (isStateless) {
      return Discover.perform(session, handshakeOptions.self(), timeoutMillis);
    }
    session.withHandshake();
    return initialize(session, handshakeOptions, timeoutMillis);
  }

  /** What a server has refused or left unanswered may be the wrong question. */
  private static Throwable unopened(Throwable failure) {
    return failure instanceof BridgeException known
            && (known.code() == ErrorCode.DEADLINE_EXCEEDED
                || known.code() == ErrorCode.START_FAILED
                || known.members().containsKey("upstream"))
        ? known.prefixed(
            "Asked in both eras of MCP, the server has opened no session (era in its entry says"
                + " which one to ask in, startTimeout for how long): ")
        : failure;
  }

  private static Future<Negotiated> initialize(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    return session
        .request(McpMethod.INITIALIZE, parameters(handshakeOptions), timeoutMillis)
        .map(Handshake::negotiate)
        .onSuccess(n -> session.notify(McpMethod.INITIALIZED, JsonSlice.EMPTY_OBJECT));
  }

  private static JsonSlice parameters(HandshakeOptions handshakeOptions) {
    return new JsonWriter()
        .beginObject()
        .member("protocolVersion", ProtocolVersion.LATEST.date())
        .member("capabilities", handshakeOptions.takesRoots() ? WITH_ROOTS : CAPABILITIES)
        .member("clientInfo", handshakeOptions.self().implementation())
        .endObject()
        .toSlice();
  }

  private static Negotiated negotiate(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    String answered = JsonObjects.string(members.get("protocolVersion"));
    return ProtocolVersion.of(String.valueOf(answered))
        .map(version -> Negotiated.of(version.date(), members, members.get("serverInfo")))
        .orElseThrow(
            () ->
                new BridgeException(
                    ErrorCode.START_FAILED,
                    "The server speaks MCP '" + answered + "', which the bridge does not"));
  }
}
