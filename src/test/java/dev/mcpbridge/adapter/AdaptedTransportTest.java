package dev.mcpbridge.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.session.Session;
import dev.mcpbridge.session.SessionListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The start timeout. */
@ExtendWith(VertxExtension.class)
class AdaptedTransportTest {
  private static final long START_MILLIS = 200;

  private Vertx vertx;

  @BeforeEach
  void use(@ProvidedBy(BridgeVertx.class) Vertx vertx) {
    this.vertx = vertx;
  }

  /** Initialises a session with a backend that is opened by this function. */
  private JsonSlice initialize(Function<Backend.Listener, Future<Backend.Identity>> opening)
      throws Exception {
    Context context = vertx.getOrCreateContext();
    Backend backend =
        Stubs.of(
            Backend.class, (method, arguments) -> opening.apply((Backend.Listener) arguments[0]));
    return vertx
        .timer(1)
        .compose(
            onContext -> {
              SessionListener ignoring =
                  Stubs.of(SessionListener.class, (method, arguments) -> null);
              Session session = new Session(context, "s", ignoring);
              session.bind(new AdaptedTransport(context, backend, session));
              return session.request(McpMethod.INITIALIZE, JsonSlice.EMPTY_OBJECT, START_MILLIS);
            })
        .await(20, TimeUnit.SECONDS);
  }

  private Future<Backend.Identity> later(long millis) {
    return vertx.timer(millis).map(new Backend.Identity("late", "1", null));
  }

  @Test
  void localWorkDoesNotCountTowardsTheTimeout() throws Exception {
    JsonSlice result =
        initialize(listener -> listener.withoutTimeout(() -> later(5 * START_MILLIS)));

    assertTrue(result.text().contains("\"late\""), result.text());
  }

  @Test
  void waitingCountsTowardsTheTimeout() {
    BridgeException failure =
        assertThrows(
            BridgeException.class,
            () ->
                initialize(
                    listener ->
                        listener.withoutTimeout(() -> later(1)).compose(id -> later(60_000))));

    assertEquals(ErrorCode.DEADLINE_EXCEEDED, failure.code());
  }
}
