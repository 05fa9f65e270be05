package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Which commands may be started over the API. */
class StartRulesTest {

  @Test
  void anyCommandIsAllowedByDefault() {
    StartRules rules = rules("{}");

    assertTrue(rules.allowsAny());
    assertDoesNotThrow(() -> rules.requireAllowed("/any/program"));
  }

  @Test
  void noCommandIsAllowedIfStartIsDisabled() {
    StartRules rules = rules("{\"allowStart\":false,\"allowedCommands\":[\"*\"]}");

    assertFalse(rules.allowsAny());
    assertRefused(rules, "sh", "http.allowStart");
  }

  @Test
  void emptyListAllowsNoCommand() {
    assertRefused(rules("{\"allowedCommands\":[]}"), "sh", "http.allowedCommands");
  }

  @Test
  void commandsAreMatchedByNameOrPath() {
    StartRules rules = rules("{\"allowedCommands\":[\"npx\",\"/srv/tools/*\"]}");

    for (String allowed : List.of("npx", "/srv/tools/a", "/srv/tools/b/c")) {
      assertDoesNotThrow(() -> rules.requireAllowed(allowed), allowed);
    }
    for (String refused :
        List.of(
            "npx2",
            "/tmp/npx",
            "/srv/tools/../../tmp/a",
            "/srv/tools/./a",
            "/srv/toolsmith",
            "sh",
            "",
            "a\0b")) {
      assertRefused(rules, refused, "http.allowedCommands");
    }
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void nameIsResolvedOnThePath() {
    String shell =
        new ProcessTarget(List.of("sh"), Map.of(), null)
            .executable(System.getenv("PATH"))
            .orElseThrow()
            .toString();

    assertDoesNotThrow(
        () -> rules("{\"allowedCommands\":[\"" + shell + "\"]}").requireAllowed("sh"));
  }

  private static void assertRefused(StartRules rules, String command, String key) {
    BridgeException refusal =
        assertThrows(BridgeException.class, () -> rules.requireAllowed(command));
    assertEquals(ErrorCode.FORBIDDEN, refusal.code());
    assertTrue(refusal.getMessage().contains(key), refusal.getMessage());
  }

  private static StartRules rules(String http) {
    return new ConfigReader(Map.of())
        .read("{\"http\":" + http + "}", ConfigReader.Strictness.ALL_OR_NOTHING)
        .http()
        .startRules();
  }
}
