package dev.mcpbridge.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.EventLoop;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.fixture.Stubs;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import io.vertx.junit5.VertxExtension;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a request must fulfil before the routes of a bridge in another program's router. */
@ExtendWith(VertxExtension.class)
class MountedRouterTest {
  private boolean isProtected;
  private boolean isStopping;

  @Test
  void bridgeWithoutKeysIsForThisMachineOnly(Vertx vertx) throws Exception {
    assertEquals("passed", outcome(vertx, "127.0.0.1"));
    assertEquals("passed", outcome(vertx, "::1"));
    assertEquals("forbidden", outcome(vertx, "192.0.2.1"));
    assertEquals("forbidden", outcome(vertx, "2001:db8::1"));
    isProtected = true;
    assertEquals("passed", outcome(vertx, "192.0.2.1"));
  }

  @Test
  void closedBridgeServesNothing(Vertx vertx) throws Exception {
    isStopping = true;

    assertEquals("server_unavailable", outcome(vertx, "127.0.0.1"));
  }

  private String outcome(Vertx vertx, String localAddress) throws Exception {
    Promise<String> outcome = Promise.promise();
    vertx.runOnContext(v -> outcome.complete(check(EventLoop.of(vertx), localAddress)));
    return outcome.future().await(10, TimeUnit.SECONDS);
  }

  private String check(EventLoop loop, String localAddress) {
    SocketAddress local = SocketAddress.inetSocketAddress(8080, localAddress);
    HttpConnection connection = Stubs.of(HttpConnection.class, (method, arguments) -> local);
    HttpServerRequest request =
        Stubs.of(HttpServerRequest.class, (method, arguments) -> connection);
    StringBuilder passed = new StringBuilder();
    RoutingContext ctx =
        Stubs.of(
            RoutingContext.class,
            (method, arguments) -> method.equals("next") ? passed.append("passed") : request);
    try {
      new MountedRouter(new MountedRouter.Conditions(loop, () -> isProtected, () -> isStopping))
          .check(ctx);
      return passed.toString();
    } catch (BridgeException e) {
      return e.code().slug();
    }
  }
}
