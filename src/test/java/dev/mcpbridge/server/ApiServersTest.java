package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.time.Clock;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** API servers while an earlier server of the same name is still stopping. */
@ExtendWith(VertxExtension.class)
class ApiServersTest {
  private static final ServerId ID = new ServerId("s");

  private final SingleNode cluster = new SingleNode(Clock.systemUTC());
  private final BridgeConfig config =
      new ConfigReader(Map.of())
          .read("{\"mcpServers\":{\"s\":{\"command\":\"any\"}}}", Strictness.ALL_OR_NOTHING);
  private final Promise<Void> ended = Promise.promise();

  /** A server that is stopping, and is deployed again once it has stopped. */
  private final class Stopping implements ApiServers.LocalServers {
    @Override
    public Set<ServerId> servers() {
      return Set.of();
    }

    @Override
    public BridgeConfig operator() {
      return config;
    }

    @Override
    public Future<?> deployed(ServerId id) {
      return hasEnded() ? Future.succeededFuture() : null;
    }

    @Override
    public Future<Void> stopping(ServerId id) {
      return hasEnded() ? null : ended.future();
    }
  }

  private boolean hasEnded() {
    return ended.future().isComplete();
  }

  private Future<ServerView> ready() {
    return hasEnded()
        ? Future.succeededFuture(
            UnplacedServer.view(config.servers().get(ID), InstanceLocation.SOLE))
        : Future.failedFuture(
            new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "The server is being stopped"));
  }

  @Test
  void startWaitsForStoppingServerOfSameName(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    Bus bus = BusFixture.of(vertx, cluster);
    ServerDefinitions serverDefinitions = new ServerDefinitions();
    serverDefinitions.read(Map.of(), config);
    ApiServers servers =
        new ApiServers(bus, cluster, cluster.map("servers"), serverDefinitions, new Stopping());
    bus.serve(Addresses.ready(ID), millis -> ready());
    Promise<ServerView> started = Promise.promise();
    vertx.runOnContext(
        v -> servers.start(JsonSlice.of("{\"id\":\"s\",\"command\":\"any\"}")).onComplete(started));
    Promise<Void> later = Promise.promise();
    vertx.runOnContext(v -> vertx.runOnContext(w -> vertx.runOnContext(x -> later.complete())));
    later.future().await(20, TimeUnit.SECONDS);
    assertFalse(started.future().isComplete());

    vertx.runOnContext(v -> ended.complete());

    assertEquals(ID, started.future().await(20, TimeUnit.SECONDS).id());
  }
}
