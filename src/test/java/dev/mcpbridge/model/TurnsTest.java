package dev.mcpbridge.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TurnsTest {

  @Test
  void aGreedyCallerWaitsBehindItsOwnCalls() {
    Turns<String> turns = new Turns<>(10);
    for (int i = 1; i <= 4; i++) {
      turns.offer("greedy", "g" + i);
    }
    turns.offer("modest", "m1");
    turns.offer("other", "o1");

    List<String> order = Stream.generate(turns::poll).limit(6).toList();

    assertEquals(List.of("g1", "m1", "o1", "g2", "g3", "g4"), order);
    assertNull(turns.poll());
  }

  @Test
  void refusesWhatIsOverItsBound() {
    Turns<String> turns = new Turns<>(1);
    turns.offer("a", "1");

    assertFalse(turns.offer("b", "2"));
    assertEquals(1, turns.size());
  }

  @Test
  void takesOutWhatIsPicked() {
    Turns<String> turns = new Turns<>(10);
    turns.offer("a", "late");
    turns.offer("a", "fine");
    turns.offer("b", "late");

    assertEquals(List.of("late", "late"), turns.removeIf("late"::equals));
    assertEquals("fine", turns.poll());
    assertEquals(0, turns.size());
  }
}
