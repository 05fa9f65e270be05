package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Clock;
import org.junit.jupiter.api.Test;

/** Versions of a replicated text. */
class ReplicatedTextTest {
  private final SharedMap map = new SingleNode(Clock.systemUTC()).map("texts");
  private final ReplicatedText first = new ReplicatedText(map);
  private final ReplicatedText second = new ReplicatedText(map);

  @Test
  void textIsAbsentBeforeTheFirstOffer() {
    assertTrue(first.known().isEmpty());
  }

  @Test
  void newestVersionWins() {
    first.offer("a", 10);
    second.offer("b", 20);

    assertEquals(new ReplicatedText.Version("b", 20), first.known().orElseThrow());
  }

  @Test
  void olderVersionIsIgnored() {
    first.offer("b", 20);
    second.offer("a", 10);
    second.offer("c", 20);

    assertEquals("b", second.known().orElseThrow().text());
  }
}
