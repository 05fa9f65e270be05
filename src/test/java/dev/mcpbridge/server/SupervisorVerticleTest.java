package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.trace.Telemetry;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers whose verticles fail to deploy. */
@ExtendWith(VertxExtension.class)
class SupervisorVerticleTest {
  private final SingleNode cluster = new SingleNode(Clock.systemUTC());
  private final List<String> opened = new CopyOnWriteArrayList<>();

  private SupervisorVerticle supervisor(Vertx vertx, BridgeConfig config) throws Exception {
    TransportFactory broken =
        (where, upstreamTarget, name, limits, listener) -> {
          opened.add(name);
          throw new IllegalStateException("This transport never opens");
        };
    SupervisorVerticle supervisor =
        new SupervisorVerticle(
            new SupervisorVerticle.Dependencies(
                cluster,
                new CallerLimits(() -> false, new Quotas(List.of(), () -> 1)),
                new ServerVerticle.Environment(
                    Bus.create(vertx, cluster, new Telemetry(new Counts())),
                    broken,
                    StdioTransport.Limits.of(config.limits(), new MemoryBudget(1 << 20)),
                    new BridgeIdentity("1", () -> "me"),
                    null),
                (instanceId, server, limits, drain) -> Optional.empty()),
            config);
    vertx.deployVerticle(supervisor).await(20, TimeUnit.SECONDS);
    return supervisor;
  }

  private static BridgeConfig config(String servers) {
    return new ConfigReader(Map.of())
        .read(
            "{'mcpServers':{%s}}".formatted(servers).replace('\'', '"'), Strictness.ALL_OR_NOTHING);
  }

  @Test
  void undeployableServersAreReplacedOnceAndRemoved(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    SupervisorVerticle supervisor =
        supervisor(
            vertx, config("'a':{'command':'any'},'b':{'command':'any'},'c':{'command':'any'}"));
    assertEquals(List.of("a", "b", "c"), opened);

    supervisor
        .reload(config("'a':{'command':'other'},'b':{'command':'other'}"))
        .await(20, TimeUnit.SECONDS);

    assertEquals(List.of("a", "b", "c", "a", "b"), opened);
    supervisor.reload(config("")).await(20, TimeUnit.SECONDS);
    assertEquals(List.of("a", "b", "c", "a", "b"), opened);
  }
}
