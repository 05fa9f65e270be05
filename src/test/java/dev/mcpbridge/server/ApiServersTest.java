package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Servers of the API, where one of the same name has not ended yet. */
class ApiServersTest {
  private static final ServerId ID = new ServerId("s");

  private final Vertx vertx = Bridge.vertx();
  private final SingleNode cluster = new SingleNode(Clock.systemUTC());
  private final Bus bus = Bus.create(vertx, cluster, new Counts());
  private final BridgeConfig config =
      new ConfigReader(Map.of())
          .read("{\"mcpServers\":{\"s\":{\"command\":\"any\"}}}", Strictness.WHOLE);
  private final Promise<Void> ended = Promise.promise();

  /** One server that ends, and runs again when it has ended. */
  private final class Ending implements ApiServers.LocalServers {
    @Override
    public Set<ServerId> wanted() {
      return Set.of();
    }

    @Override
    public BridgeConfig operator() {
      return config;
    }

    @Override
    public Future<?> begun(ServerId id) {
      return isOver() ? Future.succeededFuture() : null;
    }

    @Override
    public Future<Void> ending(ServerId id) {
      return isOver() ? null : ended.future();
    }
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private boolean isOver() {
    return ended.future().isComplete();
  }

  private Future<ServerView> ready() {
    return isOver()
        ? Future.succeededFuture(
            UnplacedServer.view(config.servers().get(ID), InstanceLocation.SOLE))
        : Future.failedFuture(
            new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "It is being stopped"));
  }

  @Test
  void aServerStartsWhenTheOneOfItsNameThatIsBeingStoppedIsGone() throws Exception {
    ServerDefinitions serverDefinitions = new ServerDefinitions();
    serverDefinitions.read(Map.of(), config);
    ApiServers posted =
        new ApiServers(bus, cluster, cluster.map("servers"), serverDefinitions, new Ending());
    bus.serve(Addresses.ready(ID), millis -> ready());
    Promise<ServerView> started = Promise.promise();
    vertx.runOnContext(
        v -> posted.start(JsonSlice.of("{\"id\":\"s\",\"command\":\"any\"}")).onComplete(started));
    Promise<Void> later = Promise.promise();
    vertx.runOnContext(v -> vertx.runOnContext(w -> vertx.runOnContext(x -> later.complete())));
    later.future().await(20, TimeUnit.SECONDS);
    assertFalse(started.future().isComplete());

    vertx.runOnContext(v -> ended.complete());

    assertEquals(ID, started.future().await(20, TimeUnit.SECONDS).id());
  }
}
