package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RandomIdsTest {
  private static final int COUNT = 100_000;

  @Test
  void everyOneOfTheBitsIsRandomAndNoIdComesTwice() {
    Set<String> ids = new HashSet<>();
    int[] ones = new int[128];
    for (int i = 0; i < COUNT; i++) {
      String id = RandomIds.next();
      ids.add(id);
      byte[] bytes = HexFormat.of().parseHex(id);
      for (int bit = 0; bit < ones.length; bit++) {
        ones[bit] += bytes[bit / 8] >> bit % 8 & 1;
      }
    }

    assertEquals(COUNT, ids.size());
    for (int bit = 0; bit < ones.length; bit++) {
      assertTrue(Math.abs(ones[bit] - COUNT / 2) < 1_500, "bit " + bit + ": " + ones[bit]);
    }
  }
}
