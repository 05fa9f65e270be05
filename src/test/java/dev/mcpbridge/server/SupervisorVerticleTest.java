package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Servers whose verticles fail to deploy. */
class SupervisorVerticleTest {
  private final Vertx vertx = Bridge.vertx();
  private final SingleNode cluster = new SingleNode(Clock.systemUTC());
  private final Bus bus = Bus.create(vertx, cluster, new Counts());
  private final List<String> opened = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private SupervisorVerticle supervisor(BridgeConfig config) throws Exception {
    TransportFactory broken =
        (where, upstreamTarget, name, limits, listener) -> {
          opened.add(name);
          throw new IllegalStateException("This transport never opens");
        };
    SupervisorVerticle supervisor =
        new SupervisorVerticle(
            bus,
            cluster,
            config,
            () -> false,
            new MemoryBudget(1 << 20),
            broken,
            (instanceId, server, limits, drain) -> Optional.empty(),
            new BridgeIdentity("1", () -> "me"));
    vertx.deployVerticle(supervisor).await(20, TimeUnit.SECONDS);
    return supervisor;
  }

  private static BridgeConfig config(String servers) {
    return new ConfigReader(Map.of())
        .read(
            "{'mcpServers':{%s}}".formatted(servers).replace('\'', '"'), Strictness.ALL_OR_NOTHING);
  }

  private void await(Future<?> future) throws Exception {
    future.await(20, TimeUnit.SECONDS);
  }

  @Test
  void undeployableServersAreReplacedOnceAndRemoved() throws Exception {
    SupervisorVerticle supervisor =
        supervisor(config("'a':{'command':'any'},'b':{'command':'any'},'c':{'command':'any'}"));
    assertEquals(List.of("a", "b", "c"), opened);

    await(supervisor.reload(config("'a':{'command':'other'},'b':{'command':'other'}")));

    assertEquals(List.of("a", "b", "c", "a", "b"), opened);
    await(supervisor.reload(config("")));
    assertEquals(List.of("a", "b", "c", "a", "b"), opened);
  }
}
