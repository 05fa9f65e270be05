package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.protocol.Sha256;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ConsoleSessionsTest {
  private static final byte[] KEY = Sha256.of("key").bytes();

  private final AdjustableClock clock = new AdjustableClock();
  private final SharedMap map = new SingleNode(clock).map("console-sessions");
  private final ConsoleSessions sessions = new ConsoleSessions(map, clock::millis);

  private static final class AdjustableClock extends Clock {
    private long millis = 1_000_000;

    @Override
    public long millis() {
      return millis;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(millis);
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  private String opened(byte[] key) {
    return sessions.open(key).result();
  }

  private void after(long minutes) {
    clock.millis += TimeUnit.MINUTES.toMillis(minutes);
  }

  @Test
  void sessionStandsForItsKey() {
    String token = opened(KEY);

    assertArrayEquals(KEY, sessions.known(token).orElseThrow());
    assertArrayEquals(KEY, sessions.find(token).result().orElseThrow());
    assertTrue(ConsoleSessions.isLike(token));
    assertTrue(sessions.known(token + "x").isEmpty());
    assertFalse(map.cached().toString().contains(token), "only the digest is stored");
  }

  @Test
  void sessionThatIsClosedIsUnknown() {
    String token = opened(KEY);

    sessions.close(token);

    assertTrue(sessions.known(token).isEmpty());
    assertTrue(sessions.close(token).succeeded(), "closing it again is no failure");
  }

  @Test
  void unusedSessionEndsAfterHalfAnHour() {
    String token = opened(KEY);

    after(31);

    assertTrue(sessions.known(token).isEmpty());
  }

  @Test
  void sessionThatIsUsedEndsAfterEightHours() {
    String token = opened(KEY);
    for (int i = 0; i < 23; i++) {
      after(20);
      assertTrue(sessions.known(token).isPresent(), "after " + (i + 1) * 20 + " minutes");
    }

    after(21);

    assertTrue(sessions.known(token).isEmpty());
  }

  @Test
  void keyHasTwentySessionsAndTheOldestEnds() {
    List<String> own = new ArrayList<>();
    String other = opened(Sha256.of("other").bytes());
    for (int i = 0; i < 25; i++) {
      own.add(opened(KEY));
      after(1);
    }

    assertEquals(20, own.stream().filter(token -> sessions.known(token).isPresent()).count());
    assertTrue(sessions.known(own.get(4)).isEmpty());
    assertTrue(sessions.known(own.get(24)).isPresent());
    assertTrue(sessions.known(other).isPresent());
  }
}
