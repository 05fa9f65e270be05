package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
}
