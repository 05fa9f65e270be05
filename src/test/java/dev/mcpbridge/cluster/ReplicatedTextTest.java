package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Clock;
import org.junit.jupiter.api.Test;

/** A text that has versions. */
class ReplicatedTextTest {
  private final SharedMap map = new SingleNode(Clock.systemUTC()).map("texts");
  private final ReplicatedText one = new ReplicatedText(map);
  private final ReplicatedText other = new ReplicatedText(map);

  @Test
  void nobodyKnowsAnythingBeforeOneIsOffered() {
    assertTrue(one.known().isEmpty());
  }

  @Test
  void theNewestIsKnownWhoeverOfferedIt() {
    one.offer("a", 10);
    other.offer("b", 20);

    assertEquals(new ReplicatedText.Version("b", 20), one.known().orElseThrow());
  }

  @Test
  void anOlderOneChangesNothing() {
    one.offer("b", 20);
    other.offer("a", 10);
    other.offer("c", 20);

    assertEquals("b", other.known().orElseThrow().text());
  }
}
