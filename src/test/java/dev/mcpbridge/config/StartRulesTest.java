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

/** Which commands may come over the API. */
class StartRulesTest {

  @Test
  void anyByDefault() {
    StartRules rules = rules("{}");

    assertTrue(rules.allowsAny());
    assertDoesNotThrow(() -> rules.check("/any/program"));
  }

  @Test
  void noneWhereNothingIsToBeStarted() {
    StartRules rules = rules("{\"allowStart\":false,\"allowedCommands\":[\"*\"]}");

    assertFalse(rules.allowsAny());
    assertRefused(rules, "sh", "http.allowStart");
  }

  @Test
  void noneOfAnEmptyList() {
    assertRefused(rules("{\"allowedCommands\":[]}"), "sh", "http.allowedCommands");
  }

  @Test
  void thoseWhoseNameOrPathIsAllowed() {
    StartRules rules = rules("{\"allowedCommands\":[\"npx\",\"/srv/tools/*\"]}");

    for (String allowed : List.of("npx", "/srv/tools/a", "/srv/tools/b/c")) {
      assertDoesNotThrow(() -> rules.check(allowed), allowed);
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
  void aNameIsLookedUpOnThePath() {
    String shell =
        new ProcessTarget(List.of("sh"), Map.of(), null)
            .program(System.getenv("PATH"))
            .orElseThrow()
            .toString();

    assertDoesNotThrow(() -> rules("{\"allowedCommands\":[\"" + shell + "\"]}").check("sh"));
  }

  private static void assertRefused(StartRules rules, String command, String key) {
    BridgeException refusal = assertThrows(BridgeException.class, () -> rules.check(command));
    assertEquals(ErrorCode.FORBIDDEN, refusal.code());
    assertTrue(refusal.getMessage().contains(key), refusal.getMessage());
  }

  private static StartRules rules(String http) {
    return new ConfigReader(Map.of())
        .read("{\"http\":" + http + "}", ConfigReader.Strictness.WHOLE)
        .http()
        .starts();
  }
}
