package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Digests of other versions of the program: an upgrade or a downgrade is no false alarm. */
class PinTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final JsonSlice TOOL =
      JsonSlice.of("{\"name\":\"a\",\"description\":\"old\",\"later\":1}");
  private static final JsonSlice OTHER = JsonSlice.of("{\"name\":\"a\",\"description\":\"new\"}");

  private static final String AT = "2026-01-01T00:00:00Z";

  private static boolean approves(Pin pin, JsonSlice current) {
    DefinitionKind kind = DefinitionKind.TOOL;
    return pin.approves(SERVER, kind, current, DigestVersion.V1.digest(SERVER, kind, current));
  }

  @Test
  void digestOfAnUnknownVersionApprovesWhatItsDefinitionSays() {
    Pin pin = new Pin(false, "v9:blake3:00", TOOL, "2026-01-01T00:00:00Z", "alice");

    assertTrue(approves(pin, TOOL));
    assertFalse(approves(pin, OTHER));
  }

  @Test
  void digestOfAnUnknownVersionWithoutADefinitionApprovesNothing() {
    Pin pin = new Pin(false, "v9:blake3:00", null, "2026-01-01T00:00:00Z", "alice");

    assertFalse(approves(pin, TOOL));
  }

  @Test
  void digestOfThisVersionCountsAndNotTheDefinitionBesideIt() {
    String digest = DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, TOOL);
    Pin pin = new Pin(false, digest, OTHER, "2026-01-01T00:00:00Z", "alice");

    assertTrue(approves(pin, TOOL));
    assertFalse(approves(pin, OTHER));
  }

  @Test
  void pinOfAnEarlierVersionCountsWhatThatVersionCounted() {
    // Given
    DefinitionKind kind = DefinitionKind.TOOL;
    DigestVersion later =
        new DigestVersion("v2", Map.of(kind, Set.of("name", "description", "later")));
    List<DigestVersion> versions = List.of(later, DigestVersion.V1);
    JsonSlice kept = DigestVersion.V1.canonical(kind, TOOL);
    Pin pin = new Pin(false, DigestVersion.V1.digest(SERVER, kind, TOOL), kept, AT, "alice");

    // Then
    assertTrue(pin.approves(SERVER, kind, TOOL, versions));
    assertFalse(pin.approves(SERVER, kind, OTHER, versions));
    Pin renewed = new Pin(false, later.digest(SERVER, kind, TOOL), TOOL, AT, "alice");
    JsonSlice changed = JsonSlice.of(TOOL.text().replace("1}", "2}"));
    assertFalse(renewed.approves(SERVER, kind, changed, versions));
  }

  @Test
  void blockedPinApprovesNothing() {
    String digest = DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, TOOL);

    assertFalse(approves(new Pin(true, digest, TOOL, "2026-01-01T00:00:00Z", "alice"), TOOL));
  }
}
