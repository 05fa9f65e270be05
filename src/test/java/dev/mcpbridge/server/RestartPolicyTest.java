package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RestartPolicyTest {
  private final RestartPolicy policy = new RestartPolicy(120_000, new Random(1));

  @Test
  void delaysGrowExponentiallyUpToMaximum() {
    for (int attempt = 0; attempt < 40; attempt++) {
      long full = Math.min(120_000, 200L << Math.min(attempt, 30));
      long delay = policy.delayMillis(attempt);
      assertTrue(delay >= full / 2 && delay <= full, attempt + ": " + delay);
    }
  }

  @Test
  void tenMinutesOfCrashesCauseFewStarts() {
    long elapsed = 0;
    int starts = 0;
    while (elapsed < 600_000) {
      elapsed += policy.delayMillis(starts++);
    }
    assertTrue(starts <= 20, "starts: " + starts);
  }

  @Test
  void attemptsResetAfterHealthyMinute() {
    assertEquals(0, policy.attemptAfter(7, 60_000));
    assertEquals(7, policy.attemptAfter(7, 59_999));
  }
}
