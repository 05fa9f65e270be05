package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class Sha256Test {
  /** The example of FIPS 180-4 for "abc". */
  private static final String ABC =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  @Test
  void digestIsThatOfTheStandardHoweverTheTextIsCut() {
    Sha256 digest = new Sha256();

    assertEquals(ABC, Sha256.of("abc").hex());
    assertEquals(ABC.substring(0, 12), Sha256.of("abc").hex(12));
    assertEquals(ABC, HexFormat.of().formatHex(Sha256.of("abc").bytes()));
    assertEquals(
        ABC,
        digest
            .add("a")
            .add(new JsonSlice("xbx".getBytes(StandardCharsets.US_ASCII), 1, 2))
            .add("c".getBytes(StandardCharsets.US_ASCII))
            .hex());
    assertEquals(ABC, digest.add("abc").hex(), "it begins anew");
  }

  @Test
  void endSeparatesParts() {
    assertNotEquals(
        new Sha256().add("a").end().add("b").hex(), new Sha256().add("a").add("b").end().hex());
    assertEquals(Sha256.of("a\0").hex(), new Sha256().add("a").end().hex());
  }
}
