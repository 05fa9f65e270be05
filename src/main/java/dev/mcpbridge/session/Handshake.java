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
  private static final long PROBE_MILLIS = 3_000;

  private Handshake() {}

  /** The longest that it takes: an older server may not answer the first question. */
  public static long patienceMillis(long timeoutMillis) {
    return Math.min(timeoutMillis, PROBE_MILLIS) + timeoutMillis;
  }

  /**
   * What the bridge has to say for itself.
   *
   * @param isElsewhere whether the server may be another bridge, which is told at once that one
   *     asks
   * @param takesRoots whether the server may ask for roots
   */
  public record Terms(Era era, boolean takesRoots, boolean isElsewhere, BridgeIdentity self) {}

  /**
   * @param session not used before; told of the era it is in
   */
  public static Future<Negotiated> perform(Session session, Terms terms, long timeoutMillis) {
    if (terms.isElsewhere()) {
      session.follow(terms.self().id());
    }
    return open(session, terms, timeoutMillis)
        .map(negotiated -> acquainted(session, negotiated, terms.self()));
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

  private static Future<Negotiated> open(Session session, Terms terms, long timeoutMillis) {
    if (terms.era() == Era.LEGACY) {
      return initialize(session, terms, timeoutMillis);
    }
    boolean isSure = terms.era() == Era.STATELESS;
    long patience = isSure ? timeoutMillis : Math.min(timeoutMillis, PROBE_MILLIS);
    Future<Negotiated> discovered = Discover.perform(session, terms.self(), patience);
    return isSure
        ? discovered
        : discovered.recover(refusal -> goOn(session, refusal, terms, timeoutMillis));
  }

  /**
   * A refusal that only the stateless era knows is asked again; any other is of an older server.
   */
  private static Future<Negotiated> goOn(
      Session session, Throwable refusal, Terms terms, long timeoutMillis) {
    boolean isStateless =
        refusal instanceof BridgeException known
            && known.members().get("upstream") instanceof JsonSlice raw
            && RpcError.read(raw).code() == RpcError.UNSUPPORTED_VERSION;
    if (isStateless) {
      return Discover.perform(session, terms.self(), timeoutMillis);
    }
    session.withHandshake();
    return initialize(session, terms, timeoutMillis);
  }

  private static Future<Negotiated> initialize(Session session, Terms terms, long timeoutMillis) {
    return session
        .request(McpMethod.INITIALIZE, parameters(terms), timeoutMillis)
        .map(Handshake::negotiate)
        .onSuccess(n -> session.notify(McpMethod.INITIALIZED, JsonSlice.EMPTY_OBJECT));
  }

  private static JsonSlice parameters(Terms terms) {
    return new JsonWriter()
        .beginObject()
        .member("protocolVersion", ProtocolVersion.LATEST.date())
        .member("capabilities", terms.takesRoots() ? WITH_ROOTS : CAPABILITIES)
        .member("clientInfo", terms.self().implementation())
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
