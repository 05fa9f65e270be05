package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.OwnershipView;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The selection of an instance for a request that any instance can serve. */
class LeastRequestBalancerTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final InstanceId ONE = new InstanceId(SERVER, 1);
  private static final InstanceId TWO = new InstanceId(SERVER, 2);
  private static final InstanceId THREE = new InstanceId(SERVER, 3);

  private final Map<InstanceId, Integer> owners = new HashMap<>();
  private final LeastRequestBalancer balancer = new LeastRequestBalancer(cluster());

  private Cluster cluster() {
    OwnershipView ownership =
        Stubs.of(
            OwnershipView.class,
            (method, server) ->
                owners.keySet().stream()
                    .filter(instanceId -> instanceId.server().equals(server[0]))
                    .sorted()
                    .toList());
    return Stubs.of(
        Cluster.class,
        (method, arguments) ->
            method.equals("owners") ? ownership : owners.get((InstanceId) arguments[0]));
  }

  @BeforeEach
  void startAll() {
    owners.putAll(Map.of(ONE, 1, TWO, 2, THREE, 0));
    owners.keySet().forEach(instanceId -> setState(instanceId, new ServerState.Ready()));
  }

  private void setState(InstanceId instanceId, ServerState state) {
    balancer.update(
        ServerViews.of(
            SERVER, state, null, null, new InstanceLocation(instanceId.number(), "n", 1)));
  }

  private InstanceId next(InstanceId... tried) {
    return balancer.select(SERVER, Set.of(tried));
  }

  @Test
  void localInstanceComesFirst() {
    owners.put(TWO, Cluster.THIS_NODE);

    assertEquals(TWO, next());
  }

  @Test
  void leastLoadedInstanceWinsOverLocalOne() {
    owners.put(ONE, Cluster.THIS_NODE);
    balancer.begun(ONE);
    balancer.begun(TWO);

    assertEquals(THREE, next());
    balancer.begun(THREE);
    assertEquals(ONE, next());

    balancer.ended(TWO);
    assertEquals(TWO, next());
  }

  @Test
  void unavailableInstanceIsUsedOnlyIfAllAre() {
    setState(ONE, new ServerState.Starting(0));
    setState(TWO, new ServerState.Draining());
    for (int call = 0; call < 100; call++) {
      balancer.begun(THREE);
    }

    assertEquals(THREE, next());
    setState(THREE, new ServerState.Starting(1));
    assertEquals(ONE, next());
  }

  @Test
  void ownedInstanceWinsOverUnownedOne() {
    owners.put(ONE, Cluster.NO_OWNER);
    setState(TWO, new ServerState.Starting(0));
    setState(THREE, new ServerState.Starting(0));

    assertEquals(TWO, next());
  }

  @Test
  void triedInstanceComesLast() {
    assertEquals(TWO, next(ONE));
    assertEquals(THREE, next(ONE, TWO));
  }

  @Test
  void lazyInstanceStartsWhenOthersAreBusy() {
    setState(TWO, new ServerState.Stopped());
    setState(THREE, new ServerState.Stopped());

    assertEquals(ONE, next());
    balancer.begun(ONE);
    assertEquals(TWO, next());
  }

  @Test
  void unknownServerUsesFirstInstance() {
    assertEquals(
        new InstanceId(new ServerId("t"), 1), balancer.select(new ServerId("t"), Set.of()));
  }
}
