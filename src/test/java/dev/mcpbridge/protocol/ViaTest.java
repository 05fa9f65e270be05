package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
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
