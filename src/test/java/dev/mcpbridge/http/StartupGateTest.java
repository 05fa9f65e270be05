package dev.mcpbridge.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests that arrive before the servers are known. */
@ExtendWith(VertxExtension.class)
class StartupGateTest {
  private static final ServerId ID = new ServerId("s");

  private final SingleNode singleNode = new SingleNode(Clock.systemUTC());
  private final Counts counts = new Counts();
  private final HttpClient client = HttpClient.newHttpClient();
  private Bus bus;
  private HttpVerticle http;

  @BeforeEach
  void listen(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    bus = BusFixture.of(vertx, singleNode, counts);
    http =
        new HttpVerticle(
            new HttpVerticle.Dependencies(
                bus,
                singleNode,
                new ConfigReader(Map.of())
                    .read("{\"http\":{\"port\":0},\"mcpServers\":{}}", Strictness.ALL_OR_NOTHING),
                new CallerLimits(
                    () -> false, new Quotas(List.of(), () -> 1), new Urgencies(List.of())),
                new BridgeIdentity("1", () -> "me"),
                new MemoryBudget(1 << 20)),
            (client, server) -> false);
    vertx.deployVerticle(http).await(20, TimeUnit.SECONDS);
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + http.port() + path));
  }

  private int status(String path) throws IOException, InterruptedException {
    return client.send(to(path).build(), BodyHandlers.discarding()).statusCode();
  }

  @Test
  void earlyRequestIsAnsweredOnceTheServersAreKnown() throws Exception {
    CompletableFuture<HttpResponse<String>> early =
        client.sendAsync(to("/servers/s").build(), BodyHandlers.ofString());

    for (String path : List.of("/health", "/health/live", "/metrics")) {
      assertEquals(200, status(path));
    }
    assertEquals(503, status("/health/ready"));
    assertFalse(early.isDone());

    bus.publish(
        Addresses.INSTANCE_CHANGED,
        ServerViews.of(ID, new ServerState.Ready(), Catalogue.EMPTY, null, InstanceLocation.SOLE));
    http.serversStarting();

    assertEquals(200, early.get(20, TimeUnit.SECONDS).statusCode());
    assertEquals(200, status("/servers/s"));
    assertEquals(404, status("/servers/other"));
    assertEquals(200, status("/health/ready"));
  }
}
