package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HiddenCharactersTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"plain", "Grüße, 東京", "👩\u200d💻 ❤\ufe0f", "می\u200cخواهم", "a\tb\nc", "\\u202e"})
  void charactersOfScriptsAndEmojiAreNotHidden(String text) throws Exception {
    JsonSlice json = JsonSlice.of("{\"a\":" + JsonObjects.quoted(text).text() + "}");

    assertTrue(HiddenCharacters.in(json).isEmpty());
    assertSame(json, HiddenCharacters.withoutHidden(json, Set.of()));
    assertEquals(text, HiddenCharacters.escaped(text));
  }

  @Test
  void findsHiddenCharactersInNamesAndStrings() throws Exception {
    JsonSlice json =
        JsonSlice.of(
            "{\"a\\u202E\":[\"\u2066x\",{\"b\":\"\\uDB40\\uDC41\"}],\"c\":\"\\u001b[2J\\u007f\"}");

    assertEquals(Set.of(0x1B, 0x7F, 0x202E, 0x2066, 0xE0041), HiddenCharacters.in(json));
  }

  @Test
  void removalKeepsIdentifiersAndEverythingElse() throws Exception {
    JsonSlice json =
        JsonSlice.of("{\"name\":\"x\\u200b\",\"d\":\"a\\u202Eb\",\"n\":[1.50,1e400,\"\\u2060\"]}");

    assertEquals(
        "{\"name\":\"x\u200b\",\"d\":\"ab\",\"n\":[1.50,1E+400,\"\"]}",
        HiddenCharacters.withoutHidden(json, Set.of("name")).text());
  }

  @Test
  void hiddenCharactersAreShownAsEscapes() {
    assertEquals("a\\u{202E}b\\u{E0041}", HiddenCharacters.escaped("a\u202eb\udb40\udc41"));
  }

  /** Code points of the property Default_Ignorable_Code_Point (Unicode 16), and blank ones. */
  @ParameterizedTest
  @CsvSource({
    "00AD,00AD", "034F,034F", "061C,061C", "115F,1160", "17B4,17B5", "180B,180F", "200B,200F",
    "2028,202E", "2060,206F", "2800,2800", "3164,3164", "FE00,FE0F", "FEFF,FEFF", "FFA0,FFA0",
    "FFF9,FFFB", "1BCA0,1BCA3", "1D173,1D17A", "E0000,E0FFF"
  })
  void whatCannotBeSeenIsMadeVisible(String from, String to) {
    for (int c = Integer.parseInt(from, 16); c <= Integer.parseInt(to, 16); c++) {
      String text = "a" + Character.toString(c) + "b";

      assertEquals(
          "a\\u{" + Integer.toHexString(c).toUpperCase(Locale.ROOT) + "}b",
          HiddenCharacters.visible(text));
    }
    assertEquals("Grüße, 東京 ❤\t\n", HiddenCharacters.visible("Grüße, 東京 ❤\t\n"));
  }
}
