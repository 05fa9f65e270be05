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

/** Which bridges something passes. */
class ViaTest {
  private static JsonSlice entry(String way) {
    return JsonSlice.of(
        "{\"name\":\"t\",\"_meta\":{\"own\":1.10,\"dev.mcpbridge/via\":" + way + "}}");
  }

  @Test
  void whatABridgeListsIsReachedOverItFirst() {
    JsonSlice reached = Via.over("b", "a", List.of(entry("[\"c\"]"))).get(0);

    assertEquals(List.of("b", "c"), Via.to(reached).bridges());
    assertTrue(reached.text().contains("\"own\":1.10"), reached.text());
  }

  @Test
  void whatHasNoWayYetIsReachedOverTheBridgeAlone() {
    JsonSlice plain = JsonSlice.of("{\"name\":\"t\",\"x\":[1.10]}");

    JsonSlice reached = Via.over("b", "a", List.of(plain)).get(0);

    assertEquals(List.of("b"), Via.to(reached).bridges());
    assertTrue(reached.text().contains("\"x\":[1.10]"), reached.text());
  }

  @Test
  void whatComesBackIsLeftOut() {
    assertTrue(Via.over("b", "a", List.of(entry("[\"c\",\"a\"]"))).isEmpty());
    assertTrue(Via.over("a", "a", List.of(entry("[]"))).isEmpty());
  }

  @Test
  void whoAsksIsNotOfferedWhatIsReachedOverWhomItPassed() {
    List<JsonSlice> all = List.of(entry("[\"c\"]"), entry("[\"d\",\"e\"]"), entry("[]"));

    assertEquals(2, new Via(List.of("x", "e")).withoutDetours(all).size());
    assertEquals(all, Via.NONE.withoutDetours(all));
  }

  /** A client may say what it likes, and all others wait meanwhile. */
  @Test
  void aVeryLongWayCostsNoMoreThanItsReading() {
    List<String> said = IntStream.range(0, 500_000).mapToObj(Integer::toString).toList();
    List<JsonSlice> all = Collections.nCopies(20_000, entry("[\"c\",\"d\"]"));

    Via way = new Via(said);

    assertEquals(
        20_000, assertTimeout(Duration.ofSeconds(5), () -> way.withoutDetours(all)).size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "{}", "null", "\"a\"", "[1,null,{}]", "[[\"a\"]]"})
  void whatIsNoListOfNamesIsNoWay(String garbage) {
    assertTrue(Via.to(entry(garbage)).isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "[]", "null", "\"a\""})
  void anEntryWithSomethingElseForItsMetaIsListedWithTheOthers(String garbage) {
    JsonSlice odd = JsonSlice.of("{\"name\":\"t\",\"_meta\":" + garbage + "}");

    List<JsonSlice> reached = Via.over("b", "a", List.of(odd, JsonSlice.of(garbage), entry("[]")));

    assertEquals(3, reached.size());
    reached.forEach(entry -> assertEquals(List.of("b"), Via.to(entry).bridges()));
  }

  @Test
  void eachBridgeIsAddedAtTheEndOfARequestsWay() {
    Via via = Via.NONE.then("a").then("b");

    assertEquals("[\"a\",\"b\"]", via.toJson().text());
    assertTrue(via.passes("a"));
    assertFalse(via.passes("c"));
  }
}
