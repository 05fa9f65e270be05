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

/** Which instance of a server is asked, where each runs for itself. */
class LeastRequestBalancerTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final InstanceId ONE = new InstanceId(SERVER, 1);
  private static final InstanceId TWO = new InstanceId(SERVER, 2);
  private static final InstanceId THREE = new InstanceId(SERVER, 3);

  private final Map<InstanceId, Integer> owners = new HashMap<>();
  private final LeastRequestBalancer leastRequestBalancer = new LeastRequestBalancer(cluster());

  private Cluster cluster() {
    OwnershipView known =
        Stubs.of(
            OwnershipView.class,
            (question, server) ->
                owners.keySet().stream()
                    .filter(instanceId -> instanceId.server().equals(server[0]))
                    .sorted()
                    .toList());
    return Stubs.of(
        Cluster.class,
        (question, arguments) ->
            question.equals("owners") ? known : owners.get((InstanceId) arguments[0]));
  }

  @BeforeEach
  void allRun() {
    owners.putAll(Map.of(ONE, 1, TWO, 2, THREE, 0));
    owners.keySet().forEach(instanceId -> hear(instanceId, new ServerState.Ready()));
  }

  private void hear(InstanceId instanceId, ServerState state) {
    leastRequestBalancer.heard(
        ServerViews.of(
            SERVER, state, null, null, new InstanceLocation(instanceId.number(), "n", 1)));
  }

  private InstanceId next(InstanceId... tried) {
    return leastRequestBalancer.of(SERVER, Set.of(tried));
  }

  @Test
  void whatIsHereIsAskedFirst() {
    owners.put(TWO, Cluster.HERE);

    assertEquals(TWO, next());
  }

  @Test
  void whoHasLeastToDoIsAskedEvenIfItIsElsewhere() {
    owners.put(ONE, Cluster.HERE);
    leastRequestBalancer.begun(ONE);
    leastRequestBalancer.begun(TWO);

    assertEquals(THREE, next());
    leastRequestBalancer.begun(THREE);
    assertEquals(ONE, next());

    leastRequestBalancer.ended(TWO);
    assertEquals(TWO, next());
  }

  @Test
  void oneThatIsDownIsAskedOnlyWhereAllAre() {
    hear(ONE, new ServerState.Starting(0));
    hear(TWO, new ServerState.Draining());
    for (int call = 0; call < 100; call++) {
      leastRequestBalancer.begun(THREE);
    }

    assertEquals(THREE, next());
    hear(THREE, new ServerState.Starting(1));
    assertEquals(ONE, next());
  }

  @Test
  void oneThatNobodyHasIsNotAskedWhereSomebodyHasAnother() {
    owners.put(ONE, Cluster.NOWHERE);
    hear(TWO, new ServerState.Starting(0));
    hear(THREE, new ServerState.Starting(0));

    assertEquals(TWO, next());
  }

  @Test
  void oneThatWasTriedInVainComesLast() {
    assertEquals(TWO, next(ONE));
    assertEquals(THREE, next(ONE, TWO));
  }

  @Test
  void oneThatIsLazyIsWokenWhenThoseThatRunHaveSomethingToDo() {
    hear(TWO, new ServerState.Stopped());
    hear(THREE, new ServerState.Stopped());

    assertEquals(ONE, next());
    leastRequestBalancer.begun(ONE);
    assertEquals(TWO, next());
  }

  @Test
  void ofAServerOfWhichNothingIsKnownTheFirstIsAsked() {
    assertEquals(
        new InstanceId(new ServerId("t"), 1), leastRequestBalancer.of(new ServerId("t"), Set.of()));
  }
}
