package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerPinsTest {
  private static final Name TOOL = new Name(DefinitionKind.TOOL, "a/b \"c\" \u202E");
  private static final Name PROMPT = new Name(DefinitionKind.PROMPT, "p");
  private static final Name TEXT = new Name(DefinitionKind.INSTRUCTIONS, "");

  private static Pin pin(String digest, String at) {
    return new Pin(false, digest, JsonSlice.of("{\"n\":1.50,\"t\":\"ü\"}"), at, "alice");
  }

  private static ServerPins of(Object... namesAndPins) {
    Map<Name, Pin> all = new HashMap<>();
    for (int i = 0; i < namesAndPins.length; i += 2) {
      all.put((Name) namesAndPins[i], (Pin) namesAndPins[i + 1]);
    }
    return new ServerPins(all);
  }

  @Test
  void lockFileGivesBackWhatWasWritten() throws Exception {
    // Given
    Pin blocked = new Pin(true, "v1:sha256:2", null, "2026-01-02T00:00:00Z", "bob");
    ServerPins pins =
        of(
            TOOL,
            pin("v1:sha256:1", "2026-01-01T00:00:00Z"),
            PROMPT,
            blocked,
            TEXT,
            pin("v1:sha256:3", "2026-01-03T00:00:00Z"));
    Map<ServerId, ServerPins> all = LockText.sorted();
    all.put(new ServerId("s"), pins);
    all.put(new ServerId("empty"), ServerPins.NONE);

    // When
    String text = LockText.write(all);

    // Then
    assertEquals(all, LockText.read(text));
    assertEquals(text, LockText.write(LockText.read(text)));
    assertEquals(pins, ServerPins.of(pins.toBytes()));
    assertTrue(text.contains("1.50"), text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[]| expected version 1",
        "{}| expected version 1",
        "{\"version\":2,\"servers\":{}}| expected version 1",
        "{\"version\":1,\"servers\":{\"s\":7}}| servers.s: expected an object",
        "{\"version\":1,\"servers\":{\"../x\":{}}}| servers.../x: not a server id",
        "{\"version\":1,\"servers\":{\"s\":{\"tools\":[]}}}| servers.s: tools is no object",
        "{\"version\":1,\"servers\":{\"s\":{\"tools\":{\"a\":{}}}}}| servers.s: tools.a needs",
        "{\"version\":1,\"servers\":{\"s\":{\"tools\":{\"a\":{\"digest\":\"x\","
            + "\"approved\":\"yesterday\"}}}}}| tools.a needs a time",
        "{\"version\":1,\"servers\":{\"s\":{},\"s\":{}}}| Duplicate",
        "{\"version\":1| Unexpected end"
      })
  void lockFileThatIsWrongSaysWhere(String text, String expected) {
    IOException e = assertThrows(IOException.class, () -> LockText.read(text));

    assertTrue(e.getMessage().contains(expected), e.getMessage());
  }

  @Test
  void halfOfASurrogatePairIsKept() throws Exception {
    // Given
    JsonSlice definition =
        DigestVersion.V1.canonical(
            DefinitionKind.TOOL,
            JsonSlice.of("{\"name\":\"t\",\"description\":\"bad \\ud800 x\"}"));
    ServerPins pins =
        of(TOOL, new Pin(false, "v1:sha256:1", definition, "2026-01-01T00:00:00Z", "alice"));

    // When
    String text = LockText.write(Map.of(new ServerId("s"), pins));

    // Then
    assertTrue(StandardCharsets.UTF_8.newEncoder().canEncode(text));
    assertEquals(text, LockText.write(LockText.read(text)));
    assertEquals("v1:sha256:1", ServerPins.of(pins.toBytes()).of(TOOL).digest());
  }

  @Test
  void manyLargeServersAreInOneFile() throws Exception {
    // Given
    Map<ServerId, ServerPins> all = LockText.sorted();
    Map<Name, Pin> many = new HashMap<>();
    for (int i = 0; i < 9_000; i++) {
      many.put(
          new Name(DefinitionKind.TOOL, "t" + i),
          new Pin(
              false,
              "v1:sha256:" + i,
              JsonSlice.of("{\"a\":[" + "0,".repeat(500) + "0]}"),
              "2026-01-01T00:00:00Z",
              "alice"));
    }
    for (int i = 0; i < 12; i++) {
      all.put(new ServerId("s" + i), ServerPins.of(new ServerPins(many).toBytes()));
    }

    // Then
    assertEquals(all, LockText.read(LockText.write(all)));
  }

  @Test
  void firstSightNeverReplacesADecision() {
    Pin blocked = new Pin(true, "1", null, "2026-01-01T00:00:00Z", "ada");
    Pin seen = new Pin(false, "2", null, "2026-02-01T00:00:00Z", Pin.FIRST_SIGHT);

    assertEquals("ada", of(TOOL, blocked).merged(of(TOOL, seen)).of(TOOL).by());
    assertEquals("ada", of(TOOL, seen).merged(of(TOOL, blocked)).of(TOOL).by());
  }

  @Test
  void timesAreComparedAsTimes() {
    ServerPins early = of(TOOL, pin("1", "2026-01-01T00:00:00Z"));
    ServerPins late = of(TOOL, pin("2", "2026-01-01T00:00:00.500Z"));

    assertEquals("2", early.merged(late).of(TOOL).digest());
    assertEquals("2", late.merged(early).of(TOOL).digest());
  }

  @Test
  void laterDecisionOfTwoCopiesCounts() {
    ServerPins mine =
        of(TOOL, pin("1", "2026-01-01T00:00:00Z"), PROMPT, pin("9", "2026-02-01T00:00:00Z"));
    ServerPins theirs =
        of(TOOL, pin("2", "2026-01-02T00:00:00Z"), PROMPT, pin("8", "2026-01-01T00:00:00Z"));

    ServerPins merged = mine.merged(theirs);

    assertEquals("2", merged.of(TOOL).digest());
    assertEquals("9", merged.of(PROMPT).digest());
    assertEquals(merged, theirs.merged(mine));
  }

  @Test
  void editChangesOnlyWhatItsAuthorHasChanged() {
    // Given
    Pin old = pin("1", "2026-01-02T00:00:00Z");
    ServerPins before = of(TOOL, old, PROMPT, old);
    ServerPins present = of(TOOL, old, PROMPT, old, TEXT, old);

    // When
    ServerPins edited = present.edited(before, of(TOOL, pin("0", "2026-01-01T00:00:00Z")));

    // Then
    assertEquals(
        "0", edited.of(TOOL).digest(), "an older decision, since the author went back to it");
    assertNull(edited.of(PROMPT));
    assertNotNull(edited.of(TEXT));
  }

  @Test
  void definitionsThatAreTooLargeTogetherAreNotKeptButTheirDigestsAre() {
    // Given
    JsonSlice large = JsonSlice.of("{\"d\":\"" + "x".repeat(3 << 20) + "\"}");
    Name second = new Name(DefinitionKind.TOOL, "b");
    Pin pin = new Pin(false, "1", large, "2026-01-01T00:00:00Z", "alice");

    // When
    ServerPins read =
        ServerPins.of(of(new Name(DefinitionKind.TOOL, "a"), pin, second, pin).toBytes());

    // Then
    assertEquals("1", read.of(second).digest());
    assertNull(read.of(second).definition());
  }
}
