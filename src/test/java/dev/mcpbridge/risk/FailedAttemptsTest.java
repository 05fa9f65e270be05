package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

/** Wrong tokens, ten a minute for each key. */
class FailedAttemptsTest {
  private long now = 1_000_000;
  private final FailedAttempts attempts =
      new FailedAttempts(
          ((InstantSource) () -> Instant.ofEpochMilli(now)).withZone(ZoneOffset.UTC));

  private void fail(String key, int times) {
    for (int i = 0; i < times; i++) {
      attempts.record(key);
    }
  }

  @Test
  void tenFailuresOfAMinuteAreTooMany() {
    fail("a", 9);
    assertDoesNotThrow(() -> attempts.check("a"));
    now += 40_000;
    fail("a", 1);

    BridgeException tooMany = assertThrows(BridgeException.class, () -> attempts.check("a"));
    assertEquals(20, tooMany.retryAfterSeconds());
    assertDoesNotThrow(() -> attempts.check("b"));
    now += 20_000;
    assertDoesNotThrow(() -> attempts.check("a"));
  }

  @Test
  void failuresOfOneKeyForgetOnlyOldOnesOfOthers() {
    fail("old", 10);
    now += 30_000;
    fail("recent", 10);
    now += 30_000;

    fail("new", 1);

    assertThrows(BridgeException.class, () -> attempts.check("recent"));
    now -= 30_000;
    assertDoesNotThrow(() -> attempts.check("old"));
  }
}
