package dev.mcpbridge.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FairQueueTest {

  @Test
  void callersAreServedRoundRobin() {
    FairQueue<String> queue = new FairQueue<>(10);
    for (int i = 1; i <= 4; i++) {
      queue.offer("greedy", "g" + i);
    }
    queue.offer("modest", "m1");
    queue.offer("other", "o1");

    List<String> order = Stream.generate(queue::poll).limit(6).toList();

    assertEquals(List.of("g1", "m1", "o1", "g2", "g3", "g4"), order);
    assertNull(queue.poll());
  }

  @Test
  void fullQueueRefusesItems() {
    FairQueue<String> queue = new FairQueue<>(1);
    queue.offer("a", "1");

    assertEquals(Optional.of("2"), queue.offer("b", "2"));
    assertEquals(1, queue.size());
  }

  @Test
  void newCallerDisplacesItemOfLargestCaller() {
    FairQueue<String> queue = new FairQueue<>(3);
    queue.offer("greedy", "g1");
    queue.offer("greedy", "g2");
    queue.offer("greedy", "g3");

    assertEquals(Optional.of("g4"), queue.offer("greedy", "g4"));
    assertEquals(Optional.of("g3"), queue.offer("modest", "m1"));
    assertEquals(Optional.of("m2"), queue.offer("modest", "m2"));
    assertEquals(3, queue.size());
    assertEquals(List.of("g1", "m1", "g2"), Stream.generate(queue::poll).limit(3).toList());
  }

  @Test
  void ineligibleCallerKeepsItsTurn() {
    FairQueue<String> queue = new FairQueue<>(3);
    queue.offer("a", "a1");
    queue.offer("b", "b1");

    assertEquals("b1", queue.poll(caller -> !caller.equals("a")));
    assertNull(queue.poll(caller -> !caller.equals("a")));
    assertEquals("a1", queue.poll());
  }

  @Test
  void removeIfReturnsMatchingItems() {
    FairQueue<String> queue = new FairQueue<>(10);
    queue.offer("a", "late");
    queue.offer("a", "fine");
    queue.offer("b", "late");

    assertEquals(List.of("late", "late"), queue.removeIf("late"::equals));
    assertEquals("fine", queue.poll());
    assertEquals(0, queue.size());
  }
}
