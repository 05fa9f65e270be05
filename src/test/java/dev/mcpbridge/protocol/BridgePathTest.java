package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths of bridges and loop detection. */
class BridgePathTest {
  private static JsonSlice entry(String path) {
    return JsonSlice.of(
        "{\"name\":\"t\",\"_meta\":{\"own\":1.10,\"dev.mcpbridge/via\":" + path + "}}");
  }

  @Test
  void listingBridgeIsPrependedToThePath() {
    JsonSlice reached = BridgePath.over("b", "a", List.of(entry("[\"c\"]"))).get(0);

    assertEquals(List.of("b", "c"), BridgePath.ofEntry(reached).bridges());
    assertTrue(reached.text().contains("\"own\":1.10"), reached.text());
  }

  @Test
  void entryWithoutAPathGetsTheListingBridge() {
    JsonSlice plain = JsonSlice.of("{\"name\":\"t\",\"x\":[1.10]}");

    JsonSlice reached = BridgePath.over("b", "a", List.of(plain)).get(0);

    assertEquals(List.of("b"), BridgePath.ofEntry(reached).bridges());
    assertTrue(reached.text().contains("\"x\":[1.10]"), reached.text());
  }

  @Test
  void entriesThatLeadBackAreDropped() {
    assertTrue(BridgePath.over("b", "a", List.of(entry("[\"c\",\"a\"]"))).isEmpty());
    assertTrue(BridgePath.over("a", "a", List.of(entry("[]"))).isEmpty());
  }

  @Test
  void entriesThroughPassedBridgesAreHidden() {
    List<JsonSlice> all = List.of(entry("[\"c\"]"), entry("[\"d\",\"e\"]"), entry("[]"));

    assertEquals(2, new BridgePath(List.of("x", "e")).withoutLoops(all).size());
    assertEquals(all, BridgePath.NONE.withoutLoops(all));
  }

  /** Clients control the path, and filtering blocks the event loop. */
  @Test
  void longPathIsFilteredQuickly() {
    List<String> ids = IntStream.range(0, 500_000).mapToObj(Integer::toString).toList();
    List<JsonSlice> all = Collections.nCopies(20_000, entry("[\"c\",\"d\"]"));

    BridgePath path = new BridgePath(ids);

    assertEquals(20_000, assertTimeout(Duration.ofSeconds(5), () -> path.withoutLoops(all)).size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "{}", "null", "\"a\"", "[1,null,{}]", "[[\"a\"]]"})
  void invalidPathIsIgnored(String garbage) {
    assertTrue(BridgePath.ofEntry(entry(garbage)).isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "[]", "null", "\"a\""})
  void entriesWithInvalidMetaAreListed(String garbage) {
    JsonSlice odd = JsonSlice.of("{\"name\":\"t\",\"_meta\":" + garbage + "}");

    List<JsonSlice> reached =
        BridgePath.over("b", "a", List.of(odd, JsonSlice.of(garbage), entry("[]")));

    assertEquals(3, reached.size());
    reached.forEach(entry -> assertEquals(List.of("b"), BridgePath.ofEntry(entry).bridges()));
  }

  @Test
  void bridgesAreAppendedToARequestPath() {
    BridgePath bridgePath = BridgePath.NONE.append("a").append("b");

    assertEquals("[\"a\",\"b\"]", bridgePath.toJson().text());
    assertTrue(bridgePath.passes("a"));
    assertFalse(bridgePath.passes("c"));
  }
}
