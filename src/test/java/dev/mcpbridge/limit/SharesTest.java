package dev.mcpbridge.limit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import org.junit.jupiter.api.Test;

class SharesTest {
  private static final Shares.Limit FOUR = new Shares.Limit("chairs", "room.chairs", 4, 1_000);

  private static BridgeException refused(Shares shares, String caller) {
    return assertThrows(BridgeException.class, () -> shares.acquire(caller));
  }

  @Test
  void oneOfSeveralCallersGetsAtMostHalf() {
    Shares shares = new Shares(FOUR, () -> true);
    shares.acquire("greedy");
    shares.acquire("greedy");

    BridgeException refusal = refused(shares, "greedy");

    assertEquals(ErrorCode.RATE_LIMITED, refusal.code());
    assertTrue(refusal.getMessage().contains("room.chairs"), refusal.getMessage());
    assertDoesNotThrow(() -> shares.acquire("modest"));
  }

  @Test
  void singleCallerMayUseTheWholeLimit() {
    Shares shares = new Shares(FOUR, () -> false);
    for (int i = 0; i < 4; i++) {
      shares.acquire("only");
    }

    assertEquals(ErrorCode.OVERLOADED, refused(shares, "only").code());
  }

  @Test
  void releasedUnitCanBeAcquiredAgain() {
    Shares shares = new Shares(new Shares.Limit("chairs", "", 1, 1_000), () -> true);
    shares.acquire("a");
    assertEquals(ErrorCode.OVERLOADED, refused(shares, "b").code());

    shares.release("a");

    assertDoesNotThrow(() -> shares.acquire("b"));
    assertEquals(0, shares.held("a"));
    assertEquals(1, shares.total());
  }
}
