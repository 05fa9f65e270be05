package dev.mcpbridge.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InstanceIdTest {
  private static final ServerId S = new ServerId("s");

  @Test
  void equalityDependsOnServerAndNumber() {
    Map<InstanceId, String> names =
        Map.of(new InstanceId(S, 1), "one", new InstanceId(S, 2), "two");

    assertEquals("two", names.get(new InstanceId(new ServerId("s"), 2)));
    assertNotEquals(new InstanceId(S, 1), new InstanceId(new ServerId("t"), 1));
    assertNotEquals(S, new InstanceId(S, 1));
    assertNotEquals(S, "s");
  }

  @Test
  void namesAreParsedBack() {
    List<InstanceId> all = InstanceId.all(S, 3);

    assertEquals(List.of("s", "s#2", "s#3"), all.stream().map(InstanceId::name).toList());
    assertEquals(all, all.stream().map(InstanceId::name).map(InstanceId::of).toList());
  }
}
