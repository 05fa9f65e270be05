package dev.mcpbridge.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PartTest {
  private static final ServerId S = new ServerId("s");

  @Test
  void aPartIsFoundAgainByItsServersNameAndItsNumberAndByNothingElse() {
    Map<Part, String> parts = Map.of(new Part(S, 1), "one", new Part(S, 2), "two");

    assertEquals("two", parts.get(new Part(new ServerId("s"), 2)));
    assertNotEquals(new Part(S, 1), new Part(new ServerId("t"), 1));
    assertNotEquals(S, new Part(S, 1));
    assertNotEquals(S, "s");
  }

  @Test
  void theNameOfAPartIsReadBack() {
    List<Part> all = Part.all(S, 3);

    assertEquals(List.of("s", "s#2", "s#3"), all.stream().map(Part::name).toList());
    assertEquals(all, all.stream().map(Part::name).map(Part::of).toList());
  }
}
