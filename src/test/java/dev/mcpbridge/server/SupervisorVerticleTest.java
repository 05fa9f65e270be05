package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.Cluster.OwnershipListener;
import dev.mcpbridge.cluster.OwnershipView;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers whose verticles fail to deploy. */
@ExtendWith(VertxExtension.class)
class SupervisorVerticleTest {
  private final SingleNode cluster = new SingleNode(Clock.systemUTC());
  private final List<String> opened = new CopyOnWriteArrayList<>();
  private Bus bus;

  private SupervisorVerticle supervisor(Vertx vertx, BridgeConfig config) throws Exception {
    return supervisor(vertx, cluster, config);
  }

  private SupervisorVerticle supervisor(Vertx vertx, Cluster cluster, BridgeConfig config)
      throws Exception {
    bus = BusFixture.of(vertx, cluster);
    TransportFactory broken =
        (where, upstreamTarget, name, limits, log, listener) -> {
          opened.add(name);
          throw new IllegalStateException("This transport never opens");
        };
    SupervisorVerticle supervisor =
        new SupervisorVerticle(
            new SupervisorVerticle.Dependencies(
                cluster,
                new CallerLimits(
                    () -> false, new Quotas(List.of(), () -> 1), new Urgencies(List.of())),
                new ServerVerticle.Environment(
                    bus,
                    broken,
                    StdioTransport.Limits.of(config.limits(), new MemoryBudget(1 << 20)),
                    new BridgeIdentity("1", () -> "me"),
                    null),
                (instanceId, server, limits, log, drain) -> Optional.empty()),
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

  @Test
  void aServerThatCannotBeDeployedIsLogged(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      supervisor(vertx, config("'a':{'command':'any'}"));

      assertTrue(
          log.lines().stream()
              .anyMatch(
                  line ->
                      line.contains("cannot be managed")
                          && line.contains("This transport never opens")),
          log.lines().toString());
    }
  }

  /** A node that runs nothing, in a cluster that knows one server or no server. */
  private Cluster member(AtomicBoolean isRegistered, AtomicReference<OwnershipListener> listener) {
    OwnershipView owners =
        Stubs.of(
            OwnershipView.class,
            (method, arguments) ->
                switch (method) {
                  case "knows" -> isRegistered.get();
                  case "epoch" -> 0L;
                  default -> throw new AssertionError(method);
                });
    return Stubs.member(
        owners,
        (method, arguments) ->
            switch (method) {
              case "map" -> cluster.map((String) arguments[0]);
              case "assigned", "owned" -> Set.of();
              case "offer" -> {
                listener.set((OwnershipListener) arguments[1]);
                yield Future.succeededFuture();
              }
              case "serve" -> null;
              case "leave" -> Future.succeededFuture();
              default -> throw new AssertionError(method);
            });
  }

  @Test
  void aServerIsKnownFromItsReportUntilItIsRemoved(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    // Given
    AtomicBoolean isRegistered = new AtomicBoolean();
    AtomicReference<OwnershipListener> listener = new AtomicReference<>();
    List<String> removed = new CopyOnWriteArrayList<>();
    supervisor(vertx, member(isRegistered, listener), config(""));
    bus.subscribe(Addresses.SERVER_REMOVED, id -> removed.add(id.name()));

    // When
    bus.publishLocally(
        Addresses.INSTANCE_CHANGED,
        ServerViews.of(
            new ServerId("new"),
            new ServerState.Starting(1),
            null,
            null,
            new InstanceLocation(1, "m", 1)));
    changed(vertx, listener);

    // Then
    assertEquals(List.of(), removed, "before it is registered");

    // When
    isRegistered.set(true);
    changed(vertx, listener);
    isRegistered.set(false);
    changed(vertx, listener);

    // Then
    assertEquals(List.of("new"), removed, "after it was registered");
  }

  /** Runs a comparison after all that was published, and all that it publishes. */
  private static void changed(Vertx vertx, AtomicReference<OwnershipListener> listener)
      throws Exception {
    EventLoops.await(vertx, Future::succeededFuture);
    EventLoops.await(
        vertx,
        () -> {
          listener.get().changed();
          return Future.succeededFuture();
        });
    EventLoops.await(vertx, Future::succeededFuture);
  }
}
