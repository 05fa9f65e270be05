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
 * The handshake of a connection. The request of the stateless era is tried first
 * (basic/transports/stdio, backward compatibility). A server that does not support it gets the
 * handshake of the revisions up to 2025-11-25 (basic/lifecycle): {@code initialize}, a version that
 * both sides support, {@code notifications/initialized}.
 *
 * <p>Sampling, elicitation and roots are declared, since a call may come from a client that
 * supports them; if the client does not, the server's request is refused.
 */
public final class Handshake {
  private static final JsonSlice CAPABILITIES =
      JsonSlice.of("{\"sampling\":{},\"elicitation\":{\"form\":{}}}");
  private static final JsonSlice WITH_ROOTS =
      JsonObjects.with(CAPABILITIES, "roots", JsonSlice.EMPTY_OBJECT);

  /** Timeout of the first request to a server that is already running. */
  private static final long PROBE_MILLIS = 3_000;

  private Handshake() {}

  /** The maximum duration; an older server may leave the first request unanswered. */
  public static long maxDurationMillis(long timeoutMillis) {
    return Math.min(timeoutMillis, PROBE_MILLIS) + timeoutMillis;
  }

  /**
   * Parameters of a handshake.
   *
   * @param era the era to use; UNKNOWN to try both
   * @param supportsRoots whether the server may request roots
   * @param isRemote whether the server is reached over HTTP: it is running already, and may be
   *     another bridge, to which the bridge path is sent from the first request
   * @param self identity of this bridge
   */
  public record HandshakeOptions(
      Era era, boolean supportsRoots, boolean isRemote, BridgeIdentity self) {}

  /**
   * Performs the handshake.
   *
   * @param session an unused session; its era is set
   */
  public static Future<Negotiated> perform(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    if (handshakeOptions.isRemote()) {
      session.setBridgePath(handshakeOptions.self().id());
    }
    return open(session, handshakeOptions, timeoutMillis)
        .map(negotiated -> checkBridge(session, negotiated, handshakeOptions.self()));
  }

  /** Sends the bridge path to another bridge; fails if the server is this bridge itself. */
  private static Negotiated checkBridge(
      Session session, Negotiated negotiated, BridgeIdentity self) {
    if (self.id().equals(negotiated.bridge())) {
      throw new BridgeException(ErrorCode.LOOP_DETECTED, "The server is this bridge itself");
    }
    session.setBridgePath(negotiated.bridge() == null ? null : self.id());
    return negotiated;
  }

  private static Future<Negotiated> open(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    return switch (handshakeOptions.era()) {
      case LEGACY -> initialize(session, handshakeOptions, timeoutMillis);
      case STATELESS -> Discover.perform(session, handshakeOptions.self(), timeoutMillis);
      case UNKNOWN -> tryBothEras(session, handshakeOptions, timeoutMillis);
    };
  }

  /**
   * Tries both eras. A process that starts slowly reads both requests and would answer the second
   * in the wrong era, so the first one gets the whole start timeout. A server at a URL is already
   * running.
   */
  private static Future<Negotiated> tryBothEras(
      Session session, HandshakeOptions handshakeOptions, long timeoutMillis) {
    long deadlineMillis = millis() + maxDurationMillis(timeoutMillis);
    long probeMillis =
        handshakeOptions.isRemote() ? Math.min(timeoutMillis, PROBE_MILLIS) : timeoutMillis;
    return Discover.perform(session, handshakeOptions.self(), probeMillis)
        .recover(
            refusal -> {
              long remaining = Math.max(1, Math.min(timeoutMillis, deadlineMillis - millis()));
              return retryOrInitialize(session, refusal, handshakeOptions, remaining);
            })
        .recover(failure -> Future.failedFuture(withHint(failure)));
  }

  private static long millis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Retries after an error of the stateless era; any other error means an older server. */
  private static Future<Negotiated> retryOrInitialize(
      Session session, Throwable refusal, HandshakeOptions handshakeOptions, long timeoutMillis) {
    boolean isStateless =
        refusal instanceof BridgeException bridgeFailure
            && bridgeFailure.members().get("upstream") instanceof JsonSlice raw
            && RpcError.read(raw).code() == RpcError.UNSUPPORTED_VERSION;
    if (isStateless) {
      return Discover.perform(session, handshakeOptions.self(), timeoutMillis);
    }
    session.withHandshake();
    return initialize(session, handshakeOptions, timeoutMillis);
  }

  /** Adds a hint to a failure that may be caused by the choice of the era or by the timeout. */
  private static Throwable withHint(Throwable failure) {
    return failure instanceof BridgeException bridgeFailure
            && (bridgeFailure.code() == ErrorCode.DEADLINE_EXCEEDED
                || bridgeFailure.code() == ErrorCode.START_FAILED
                || bridgeFailure.members().containsKey("upstream"))
        ? bridgeFailure.prefixed(
            "The server accepted the handshake of neither MCP era (set era in its entry to use one"
                + " only, startTimeout to wait longer): ")
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
        .member("capabilities", handshakeOptions.supportsRoots() ? WITH_ROOTS : CAPABILITIES)
        .member("clientInfo", handshakeOptions.self().implementation())
        .endObject()
        .toSlice();
  }

  private static Negotiated negotiate(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    String version = JsonObjects.string(members.get("protocolVersion"));
    return ProtocolVersion.of(String.valueOf(version))
        .map(found -> Negotiated.of(found.date(), members, members.get("serverInfo")))
        .orElseThrow(
            () ->
                new BridgeException(
                    ErrorCode.START_FAILED,
                    "The server uses MCP version '" + version + "', which is not supported"));
  }
}
