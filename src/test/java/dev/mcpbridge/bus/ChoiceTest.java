package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.Owners;
import dev.mcpbridge.fixture.Looks;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.Residence;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which instance of a server is asked, where each runs for itself. */
class ChoiceTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final Part ONE = new Part(SERVER, 1);
  private static final Part TWO = new Part(SERVER, 2);
  private static final Part THREE = new Part(SERVER, 3);

  private final Map<Part, Integer> owners = new HashMap<>();
  private final Choice choice = new Choice(cluster());

  private Cluster cluster() {
    Owners known =
        Stubs.of(
            Owners.class,
            (question, server) ->
                owners.keySet().stream()
                    .filter(part -> part.server().equals(server[0]))
                    .sorted()
                    .toList());
    return Stubs.of(
        Cluster.class,
        (question, arguments) ->
            question.equals("owners") ? known : owners.get((Part) arguments[0]));
  }

  @BeforeEach
  void allRun() {
    owners.putAll(Map.of(ONE, 1, TWO, 2, THREE, 0));
    owners.keySet().forEach(part -> hear(part, new ServerState.Ready()));
  }

  private void hear(Part part, ServerState state) {
    choice.heard(Looks.of(SERVER, state, null, null, new Residence(part.number(), "n", 1)));
  }

  private Part next(Part... tried) {
    return choice.of(SERVER, Set.of(tried));
  }

  @Test
  void whatIsHereIsAskedFirst() {
    owners.put(TWO, Cluster.HERE);

    assertEquals(TWO, next());
  }

  @Test
  void whoHasLeastToDoIsAskedEvenIfItIsElsewhere() {
    owners.put(ONE, Cluster.HERE);
    choice.begun(ONE);
    choice.begun(TWO);

    assertEquals(THREE, next());
    choice.begun(THREE);
    assertEquals(ONE, next());

    choice.ended(TWO);
    assertEquals(TWO, next());
  }

  @Test
  void oneThatIsDownIsAskedOnlyWhereAllAre() {
    hear(ONE, new ServerState.Starting(0));
    hear(TWO, new ServerState.Draining());
    for (int call = 0; call < 100; call++) {
      choice.begun(THREE);
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
    choice.begun(ONE);
    assertEquals(TWO, next());
  }

  @Test
  void ofAServerOfWhichNothingIsKnownTheFirstIsAsked() {
    assertEquals(new Part(new ServerId("t"), 1), choice.of(new ServerId("t"), Set.of()));
  }
}
