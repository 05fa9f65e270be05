package dev.mcpbridge.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class FairQueueTest {

  @Test
  void callersAreServedRoundRobin() {
    FairQueue<String> queue = new FairQueue<>(10);
    for (int i = 1; i <= 4; i++) {
      queue.offer(Flow.of("greedy"), "g" + i);
    }
    queue.offer(Flow.of("modest"), "m1");
    queue.offer(Flow.of("other"), "o1");

    List<String> order = Stream.generate(queue::poll).limit(6).toList();

    assertEquals(List.of("g1", "m1", "o1", "g2", "g3", "g4"), order);
    assertNull(queue.poll());
  }

  @Test
  void fullQueueRefusesItems() {
    FairQueue<String> queue = new FairQueue<>(1);
    queue.offer(Flow.of("a"), "1");

    assertEquals(Optional.of("2"), queue.offer(Flow.of("b"), "2"));
    assertEquals(1, queue.size());
  }

  @Test
  void newCallerDisplacesItemOfLargestCaller() {
    FairQueue<String> queue = new FairQueue<>(3);
    queue.offer(Flow.of("greedy"), "g1");
    queue.offer(Flow.of("greedy"), "g2");
    queue.offer(Flow.of("greedy"), "g3");

    assertEquals(Optional.of("g4"), queue.offer(Flow.of("greedy"), "g4"));
    assertEquals(Optional.of("g3"), queue.offer(Flow.of("modest"), "m1"));
    assertEquals(Optional.of("m2"), queue.offer(Flow.of("modest"), "m2"));
    assertEquals(3, queue.size());
    assertEquals(List.of("g1", "m1", "g2"), Stream.generate(queue::poll).limit(3).toList());
  }

  @Test
  void ineligibleCallerKeepsItsTurn() {
    FairQueue<String> queue = new FairQueue<>(3);
    queue.offer(Flow.of("a"), "a1");
    queue.offer(Flow.of("b"), "b1");

    assertEquals("b1", queue.poll(flow -> !flow.caller().equals("a")));
    assertNull(queue.poll(flow -> !flow.caller().equals("a")));
    assertEquals("a1", queue.poll());
  }

  @Test
  void removeIfReturnsMatchingItems() {
    FairQueue<String> queue = new FairQueue<>(10);
    queue.offer(Flow.of("a"), "late");
    queue.offer(Flow.of("a"), "fine");
    queue.offer(Flow.of("b"), "late");

    assertEquals(List.of("late", "late"), queue.removeIf("late"::equals));
    assertEquals("fine", queue.poll());
    assertEquals(0, queue.size());
  }

  /** One server that is never idle, and flows that always have items of their own size. */
  private static Map<Flow, Double> served(FairQueue<Work> queue, Map<Flow, Double> costs) {
    costs.forEach((flow, cost) -> offer(queue, flow, cost));
    costs.forEach((flow, cost) -> offer(queue, flow, cost));
    Map<Flow, Double> served = new HashMap<>();
    for (double time = 0; time < 20_000; ) {
      Work next = queue.poll();
      time += next.cost();
      served.merge(next.flow(), next.cost(), Double::sum);
      offer(queue, next.flow(), next.cost());
    }
    return served;
  }

  private record Work(Flow flow, double cost) {}

  private static void offer(FairQueue<Work> queue, Flow flow, double cost) {
    assertTrue(queue.offer(flow, cost, new Work(flow, cost)).isEmpty());
  }

  @RepeatedTest(20)
  void backloggedFlowsGetSharesByTheirWeights(RepetitionInfo repetition) {
    Random random = new Random(repetition.getCurrentRepetition());
    Map<Flow, Double> costs = new HashMap<>();
    for (int i = 0; i < 2 + random.nextInt(6); i++) {
      costs.put(new Flow("c" + random.nextInt(4), random.nextInt(6)), 1 + 9 * random.nextDouble());
    }

    Map<Flow, Double> served = served(new FairQueue<>(100), costs);

    double all = served.values().stream().mapToDouble(each -> each).sum();
    double weights = costs.keySet().stream().mapToDouble(Flow::weight).sum();
    costs.forEach(
        (flow, cost) -> {
          double expected = all * flow.weight() / weights;
          assertEquals(expected, served.getOrDefault(flow, 0.0), 0.05 * expected + 2 * cost);
        });
  }

  @Test
  void aFloodThatIsNotUrgentDelaysAnUrgentItemByOneAtMost() {
    FairQueue<String> queue = new FairQueue<>(10_000);
    Flow urgent = new Flow("calm", 0);
    for (int i = 0; i < 100; i++) {
      for (int caller = 0; caller < 50; caller++) {
        queue.offer(new Flow("flood" + caller, 7), "flood");
      }
    }

    for (int turn = 0; turn < 100; turn++) {
      assertEquals("flood", queue.poll());
      queue.offer(urgent, "urgent");
      assertEquals("urgent", queue.poll(), "at turn " + turn);
    }
  }

  @Test
  void anUrgentFloodDoesNotStarveTheOthers() {
    FairQueue<String> queue = new FairQueue<>(1_000);
    queue.offer(new Flow("patient", 7), "first");
    queue.offer(new Flow("patient", 7), "second");
    for (int i = 0; i < 900; i++) {
      queue.offer(new Flow("urgent", 0), "urgent");
    }

    List<String> order = Stream.generate(queue::poll).limit(300).toList();

    assertTrue(order.contains("first"), "starved");
    assertTrue(order.contains("second"), "starved");
  }

  @Test
  void aPauseSavesNoTurnsUp() {
    FairQueue<String> queue = new FairQueue<>(100);
    for (int i = 0; i < 20; i++) {
      queue.offer(Flow.of("steady"), "steady");
    }
    Stream.generate(queue::poll).limit(10).toList();
    for (int i = 0; i < 10; i++) {
      queue.offer(Flow.of("back"), "back");
    }

    List<String> order = Stream.generate(queue::poll).limit(8).toList();

    assertEquals(4, order.stream().filter("back"::equals).count(), order.toString());
  }

  @Test
  void aFlowThatAlwaysComesBackAtOnceGetsNoMoreThanOneThatWaits() {
    FairQueue<String> queue = new FairQueue<>(100);
    for (int i = 0; i < 40; i++) {
      queue.offer(Flow.of("waits"), 1, "waits");
    }
    queue.offer(Flow.of("comes"), 3, "comes");
    double waits = 0;
    double comes = 0;
    while (waits + comes < 32) {
      if (queue.poll().equals("comes")) {
        comes += 3;
        queue.offer(Flow.of("comes"), 3, "comes");
      } else {
        waits++;
      }
    }

    assertEquals(waits, comes, 3);
  }

  @Test
  void aMoreUrgentItemDisplacesTheNewestOfTheLeastUrgent() {
    FairQueue<String> queue = new FairQueue<>(4);
    queue.offer(new Flow("a", 5), "a5");
    queue.offer(new Flow("b", 7), "old");
    queue.offer(new Flow("b", 7), "new");
    queue.offer(new Flow("c", 3), "c3");

    assertEquals(Optional.of("new"), queue.offer(new Flow("d", 4), "d4"));
    assertEquals(Optional.of("e7"), queue.offer(new Flow("e", 7), "e7"));
    assertEquals(Optional.of("more of d"), queue.offer(new Flow("d", 4), "more of d"));
    assertEquals(Optional.of("old"), queue.offer(new Flow("d", 2), "urgent"));
    assertEquals(List.of("urgent", "c3"), Stream.generate(queue::poll).limit(2).toList());
  }

  @Test
  void aCallerWithHalfOfTheQueueDisplacesOnlyItsOwnItems() {
    FairQueue<String> queue = new FairQueue<>(4);
    queue.offer(new Flow("patient", 7), "p1");
    queue.offer(new Flow("patient", 7), "p2");
    queue.offer(new Flow("urgent", 0), "u1");
    queue.offer(new Flow("urgent", 5), "u2");

    assertEquals(Optional.of("u2"), queue.offer(new Flow("urgent", 0), "u3"));
    assertEquals(Optional.of("u4"), queue.offer(new Flow("urgent", 0), "u4"));
    assertEquals(2, queue.count("patient"));
  }

  @RepeatedTest(20)
  void nothingIsLostOrServedTwice(RepetitionInfo repetition) {
    Random random = new Random(repetition.getCurrentRepetition());
    FairQueue<Integer> queue = new FairQueue<>(30);
    Set<Integer> inside = new HashSet<>();
    for (int i = 0; i < 5_000; i++) {
      Flow flow = new Flow("c" + random.nextInt(5), random.nextInt(8));
      switch (random.nextInt(8)) {
        case 0 -> {
          int some = random.nextInt(20);
          List<Integer> removed = queue.removeIf(each -> each % 20 == some);
          removed.forEach(each -> assertTrue(inside.remove(each)));
          assertTrue(inside.stream().noneMatch(each -> each % 20 == some));
        }
        case 1, 2, 3 -> {
          Integer next = queue.poll(each -> each.urgency() != flow.urgency());
          assertTrue(next == null || inside.remove(next));
        }
        default -> {
          inside.add(i);
          queue.offer(flow, random.nextDouble(), i).ifPresent(each -> inside.remove(each));
        }
      }
      assertEquals(inside.size(), queue.size());
      assertEquals(queue.size(), IntStream.range(0, 5).map(each -> queue.count("c" + each)).sum());
    }
    Stream.generate(queue::poll)
        .limit(inside.size())
        .toList()
        .forEach(each -> assertTrue(inside.remove(each)));
    assertNull(queue.poll());
  }

  /** Callers with a single item each come and go, so that there is always another one. */
  @Test
  void anItemWithALongTurnIsNotPassedByCallersThatComeAndGoForEver() {
    FairQueue<String> queue = new FairQueue<>(1_000);
    queue.offer(new Flow("nightly", 6), 2_000, "nightly");
    int callers = 0;
    while (callers < 20) {
      queue.offer(Flow.of("c" + callers++), 50, "short");
    }

    while (!queue.poll().equals("nightly")) {
      queue.offer(Flow.of("c" + callers++), 50, "short");
      assertTrue(callers < 60_000, "passed by " + callers);
    }
  }

  @Test
  void anItemThatMayNotBeServedGivesNoTurnsToOthers() {
    FairQueue<String> queue = new FairQueue<>(1_000);
    queue.offer(Flow.of("stuck"), "stuck");
    for (int i = 0; i < 50; i++) {
      queue.offer(Flow.of("steady"), "steady");
    }
    Predicate<Flow> isFree = flow -> !flow.caller().equals("stuck");
    for (int i = 0; i < 40; i++) {
      assertEquals("steady", queue.poll(isFree));
    }
    for (int i = 0; i < 10; i++) {
      queue.offer(Flow.of("fresh"), "fresh");
    }

    List<String> order = Stream.generate(() -> queue.poll(isFree)).limit(30).toList();

    int last = order.subList(0, 20).lastIndexOf("steady");
    assertTrue(last > 2, order.toString());
  }
}
