package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.cluster.FirstStart.Answer;
import dev.mcpbridge.cluster.FirstStart.Begin;
import dev.mcpbridge.cluster.FirstStart.Conflict;
import dev.mcpbridge.cluster.FirstStart.Folder;
import dev.mcpbridge.cluster.FirstStart.Join;
import dev.mcpbridge.cluster.FirstStart.Wait;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How a node with an empty folder starts. */
class FirstStartTest {
  private static final List<String> MEMBERS = List.of("a:10", "b:10", "c:10");
  private static final Map<Integer, String> SERVERS =
      Map.of(1, "a:11:12", 2, "b:11:12", 3, "c:11:12");
  private static final Map<Integer, String> CHANGED = Map.of(2, "b:11:12", 7, "d:11:12");

  private static Answer empty() {
    return new Answer(Folder.EMPTY, MEMBERS, Map.of(), 0);
  }

  private static Answer established(int number) {
    return new Answer(Folder.ESTABLISHED, MEMBERS, CHANGED, number);
  }

  private static FirstStart.Decision decide(Map<String, Answer> answers, boolean hasWaited) {
    return FirstStart.decide("a:10", MEMBERS, answers, hasWaited);
  }

  @Test
  void clusterBeginsWhenAllMembersAreThereAndNew() {
    Answer beginning = new Answer(Folder.BEGINNING, MEMBERS, Map.of(), 0);

    assertEquals(new Wait(), decide(Map.of("b:10", empty()), false));
    assertEquals(new Begin(1, SERVERS), decide(Map.of("b:10", empty(), "c:10", beginning), false));
  }

  @Test
  void twoOfThreeBeginAfterAWhileButOneDoesNot() {
    assertEquals(new Begin(1, SERVERS), decide(Map.of("b:10", empty()), true));
    assertEquals(new Wait(), decide(Map.of(), true));
  }

  @Test
  void nodeThatLostItsDiskJoinsTheClusterOfTheOthers() {
    assertEquals(
        new Join(5, CHANGED), decide(Map.of("b:10", empty(), "c:10", established(5)), false));
  }

  @Test
  void nodeWaitsForANumberEvenIfAllOthersAreNew() {
    assertEquals(new Wait(), decide(Map.of("b:10", empty(), "c:10", established(0)), true));
  }

  @Test
  void nodeBeyondTheMembersNeverBeginsACluster() {
    assertEquals(
        new Wait(),
        FirstStart.decide(
            "x:10", MEMBERS, Map.of("a:10", empty(), "b:10", empty(), "c:10", empty()), true));
  }

  @Test
  void nodesWithDifferentListsBeginNothing() {
    List<String> others = List.of("a:10", "b:10");
    Answer other = new Answer(Folder.EMPTY, others, Map.of(), 0);

    assertEquals(
        new Conflict("b:10", others), decide(Map.of("b:10", other, "c:10", empty()), true));
  }

  @Test
  void answerSurvivesTheWire() {
    Answer answer = established(5);

    assertEquals(answer, Answer.of(answer.toBytes()));
  }

  @Test
  void portsOfTheStoreFollowThePortForMessages() {
    assertEquals("[::1]:7801:7802", FirstStart.server("[::1]:7800"));
    assertEquals("[::1]:7800", FirstStart.address("[::1]:7801:7802"));
  }
}
