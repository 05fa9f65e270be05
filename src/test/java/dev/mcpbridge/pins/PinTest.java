package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import org.junit.jupiter.api.Test;

/** Digests of other versions of the program: an upgrade or a downgrade is no false alarm. */
class PinTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final JsonSlice TOOL =
      JsonSlice.of("{\"name\":\"a\",\"description\":\"old\",\"later\":1}");
  private static final JsonSlice OTHER = JsonSlice.of("{\"name\":\"a\",\"description\":\"new\"}");

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
  void blockedPinApprovesNothing() {
    String digest = DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, TOOL);

    assertFalse(approves(new Pin(true, digest, TOOL, "2026-01-01T00:00:00Z", "alice"), TOOL));
  }
}
