package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.ServerId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QualifiedNamesTest {
  private static final int PAIRS = 100_000;
  private static final Pattern ACCEPTED = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]{0,63}");
  private static final List<String> SERVERS =
      List.of("a", "a_", "a__", "a__b", "a__b_", "b", "1", "1a", "a.b", "a-b", "a_b", "A");
  private static final List<String> PIECES =
      List.of(
          "a",
          "b",
          "c",
          "_",
          "__",
          ".",
          "-",
          "1",
          "ü",
          "🎉",
          " ",
          "/",
          "\0",
          "\n",
          "A",
          "0123456789ab",
          "x".repeat(20),
          "\ud83c",
          "\ud83d",
          "?",
          "\ufffd",
          "a__b",
          "");

  private record Pair(String server, String tool) {
    String name() {
      return QualifiedNames.of(new ServerId(server), tool);
    }
  }

  @Test
  void namesAreUniqueAndStable() {
    // Given
    List<Pair> pairs = new ArrayList<>(pairs());
    Map<String, Pair> byName = new HashMap<>();

    // When
    for (Pair pair : pairs) {
      Pair other = byName.put(pair.name(), pair);
      assertEquals(null, other, () -> "duplicate name for " + pair);
    }

    // Then
    Collections.shuffle(pairs, new Random(2));
    pairs.forEach(pair -> assertEquals(pair, byName.get(pair.name())));
    byName.keySet().forEach(name -> assertTrue(ACCEPTED.matcher(name).matches(), name));
  }

  @ParameterizedTest
  @CsvSource({"a,b,a__b", "a_b,c-d,a_b__c-d", "a,_b,a___b", "A,b_,A__b_"})
  void plainNamesConsistOfServerAndTool(String server, String tool, String name) {
    assertEquals(name, new Pair(server, tool).name());
  }

  @ParameterizedTest
  @CsvSource({"a,b__c,a__b,c", "a_,b,a,_b", "a.b,c,a_b,c", "a,b.c,a,b_c", "1,a,_1,a", "a,ü,a,ä"})
  void ambiguousNamesDiffer(String server, String tool, String server2, String tool2) {
    // Given
    String first = new Pair(server, tool).name();

    // When
    String second = new Pair(ServerId.isValid(server2) ? server2 : "x", tool2).name();

    // Then
    assertNotEquals(first, second);
  }

  @Test
  void longNamesAreShortenedWithHash() {
    // Given
    String tool = "x".repeat(100);

    // When
    String first = new Pair("a", tool + "1").name();
    String second = new Pair("a", tool + "2").name();

    // Then
    assertEquals(64, first.length());
    assertEquals(first.substring(0, 52), second.substring(0, 52));
    assertNotEquals(first, second);
  }

  @Test
  void toolNamedLikeAHashedNameDoesNotCollide() {
    // Given
    String hashed = new Pair("a", "b.c").name();

    // When
    String imitated = new Pair("a", hashed.substring("a__".length())).name();

    // Then
    assertNotEquals(hashed, imitated);
    assertFalse(imitated.isEmpty());
  }

  private static Set<Pair> pairs() {
    Random random = new Random(1);
    Set<Pair> pairs = new LinkedHashSet<>();
    for (String server : SERVERS) {
      for (String first : PIECES) {
        for (String second : PIECES) {
          pairs.add(new Pair(server, first + second));
        }
      }
    }
    while (pairs.size() < PAIRS) {
      StringBuilder tool = new StringBuilder();
      for (int i = random.nextInt(7); i >= 0; i--) {
        tool.append(PIECES.get(random.nextInt(PIECES.size())));
      }
      pairs.add(new Pair(SERVERS.get(random.nextInt(SERVERS.size())), tool.toString()));
    }
    return pairs;
  }
}
