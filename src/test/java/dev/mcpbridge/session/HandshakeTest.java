package dev.mcpbridge.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.InMemoryTransport;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Era;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The order and the timing of the handshake requests of both eras. */
@ExtendWith(VertxExtension.class)
class HandshakeTest {
  private static final String DISCOVERED =
      "'result':{'supportedVersions':['2026-07-28'],'capabilities':{}}";
  private static final String INITIALIZED =
      "'result':{'protocolVersion':'2025-11-25','capabilities':{}}";
  private static final String UNKNOWN = "'error':{'code':-32601,'message':'unknown'}";

  /** Longer than the timeout of the first request to a running server. */
  private static final long LATE_MILLIS = 3_200;

  private Vertx vertx;
  private Context context;
  private ScriptedServer server;

  @BeforeEach
  void create(Vertx vertx) {
    this.vertx = vertx;
    context = vertx.getOrCreateContext();
    server = new ScriptedServer();
  }

  /** A server with scripted, possibly delayed responses to some requests. */
  private final class ScriptedServer extends InMemoryTransport {
    final Session session = new Session(context, "s", new NoListener());
    Map<String, String> responses = Map.of();
    long startMillis = 1;

    ScriptedServer() {
      super(context);
      connect(session);
    }

    @Override
    protected void received(String method, JsonSlice id, JsonSlice params) {
      String answer = responses.get(method);
      if (answer != null) {
        vertx.setTimer(startMillis, t -> respond(id.text(), answer));
      }
    }
  }

  private static final class NoListener implements SessionListener {
    @Override
    public void notificationReceived(RpcMessage notification) {}

    @Override
    public Future<JsonSlice> requestReceived(String method, JsonSlice params) {
      return Future.failedFuture("no client");
    }

    @Override
    public void lost(int garbageLines, int droppedMessages) {}

    @Override
    public void closed(String reason) {}
  }

  private Negotiated perform(boolean isElsewhere, long timeoutMillis) throws Exception {
    Handshake.HandshakeOptions options =
        new Handshake.HandshakeOptions(
            Era.UNKNOWN, false, isElsewhere, new BridgeIdentity("1", () -> "this bridge"));
    Promise<Negotiated> done = Promise.promise();
    context.runOnContext(
        v ->
            Handshake.perform(server.session.bind(server), options, timeoutMillis)
                .onComplete(done));
    return done.future().await(20, TimeUnit.SECONDS);
  }

  private BridgeException failure(long timeoutMillis) {
    return assertThrows(BridgeException.class, () -> perform(false, timeoutMillis));
  }

  @Test
  void aSlowlyStartingProcessGetsOneRequest() throws Exception {
    server.startMillis = LATE_MILLIS;
    server.responses = Map.of(McpMethod.DISCOVER, DISCOVERED, McpMethod.INITIALIZE, UNKNOWN);

    assertEquals("2026-07-28", perform(false, 20_000).revision());

    assertEquals(List.of(McpMethod.DISCOVER), server.methods());
    assertTrue(server.session.isStateless());
  }

  @Test
  void aServerAtAUrlHasAShorterProbeTimeout() throws Exception {
    server.startMillis = LATE_MILLIS;
    server.responses = Map.of(McpMethod.INITIALIZE, INITIALIZED);

    assertEquals("2025-11-25", perform(true, 20_000).revision());
  }

  @Test
  void afterTheStartTimeoutAProcessGetsTheOtherHandshake() throws Exception {
    server.responses = Map.of(McpMethod.INITIALIZE, INITIALIZED);

    assertEquals("2025-11-25", perform(false, 300).revision());

    assertEquals(
        List.of(
            McpMethod.DISCOVER, McpMethod.CANCELLED, McpMethod.INITIALIZE, McpMethod.INITIALIZED),
        server.methods());
  }

  @Test
  void theTimeoutErrorNamesTheEraKey() {
    BridgeException failure = failure(100);

    assertEquals(ErrorCode.DEADLINE_EXCEEDED, failure.code());
    assertTrue(failure.getMessage().contains("era"), failure.getMessage());
    assertTrue(failure.getMessage().contains("timed out"), failure.getMessage());
  }

  @Test
  void theErrorOfARefusedHandshakeNamesTheEraKey() {
    server.responses = Map.of(McpMethod.DISCOVER, UNKNOWN, McpMethod.INITIALIZE, UNKNOWN);

    BridgeException failure = failure(20_000);

    assertEquals(ErrorCode.NOT_FOUND, failure.code());
    assertTrue(failure.getMessage().contains("era"), failure.getMessage());
    assertTrue(failure.getMessage().endsWith("unknown"), failure.getMessage());
  }
}
