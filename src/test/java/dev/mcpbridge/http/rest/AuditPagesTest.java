package dev.mcpbridge.http.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages of several nodes as one. */
class AuditPagesTest {
  private static AuditPage.Line line(String node, long seq, long millis) {
    return new AuditPage.Line(seq, millis, JsonSlice.of("\"" + node + seq + " " + millis + "\""));
  }

  /** What a node would answer: at most {@code most} of its lines below a number. */
  private static AuditPage page(List<AuditPage.Line> trail, long before, int most) {
    List<AuditPage.Line> below = trail.stream().filter(line -> line.seq() < before).toList();
    return below.size() <= most
        ? new AuditPage(below, 0)
        : new AuditPage(
            below.subList(0, most), most == 0 ? below.get(0).seq() : below.get(most - 1).seq());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void everyRecordOfEveryNodeComesOnceByItsTime(long seed) {
    // Given: the newest first, with gaps in the numbers and equal times
    Random random = new Random(seed);
    Map<String, List<AuditPage.Line>> trails = new HashMap<>();
    Map<String, Long> position = new HashMap<>();
    for (String node : List.of("a", "b", "c")) {
      List<AuditPage.Line> trail = new ArrayList<>();
      long seq = 1_000;
      long millis = 100_000;
      for (int i = random.nextInt(60); i > 0; i--) {
        seq -= 1 + random.nextInt(3);
        millis -= random.nextInt(4);
        trail.add(line(node, seq, millis));
      }
      trails.put(node, trail);
      position.put(node, Long.MAX_VALUE);
    }

    // When
    List<String> got = new ArrayList<>();
    int rounds = 0;
    while (position.values().stream().anyMatch(next -> next > 0)) {
      Map<String, AuditPage> pages = new HashMap<>();
      position.forEach(
          (node, before) -> pages.put(node, page(trails.get(node), before, 1 + random.nextInt(9))));
      AuditPages all = new AuditPages(pages);
      int limit = 1 + random.nextInt(12);
      List<JsonSlice> taken = all.take(limit);
      assertTrue(taken.size() <= limit);
      taken.forEach(text -> got.add(text.text()));
      position.replaceAll((node, before) -> all.next(node));
      assertTrue(++rounds < 500, "it does not end");
    }

    // Then
    List<String> expected =
        trails.values().stream().flatMap(List::stream).map(l -> l.text().text()).sorted().toList();
    assertEquals(expected, got.stream().sorted().toList());
    List<Long> times = got.stream().map(AuditPagesTest::time).toList();
    assertEquals(times.stream().sorted(Comparator.reverseOrder()).toList(), times);
  }

  private static long time(String text) {
    return Long.parseLong(text.replaceAll(".* (\\d+)\"", "$1"));
  }

  @Test
  void nothingOlderComesBeforeWhatANodeHasNotFoundYet() {
    AuditPages pages =
        new AuditPages(
            Map.of(
                "slow", new AuditPage(List.of(), 50),
                "fast", new AuditPage(List.of(line("fast", 9, 1)), 0)));

    assertEquals(List.of(), pages.take(10));
    assertEquals(50, pages.next("slow"));
    assertEquals(10, pages.next("fast"));
  }

  @Test
  void recordsThatCameSinceThePageBeforeAreNotShownLater() {
    AuditPages pages =
        new AuditPages(
            Map.of(
                "a", new AuditPage(List.of(line("a", 9, 2)), 0),
                "b", new AuditPage(List.of(line("b", 7, 1)), 0)));

    assertEquals(1, pages.take(1).size());
    assertEquals(0, pages.next("a"));
    assertEquals(8, pages.next("b"), "below the newest one that was found");
  }
}
