package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.JWKSet;
import dev.mcpbridge.fixture.TokenForge;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When keys are fetched, and which are used while the issuer cannot be reached. */
class IssuerKeysTest {
  private static final JWKSet OLD = new JWKSet(TokenForge.ec("old").toPublicJWK());
  private static final JWKSet NEW = new JWKSet(TokenForge.ec("new").toPublicJWK());
  private static final long HOUR = TimeUnit.HOURS.toMillis(1);

  private final List<Promise<IssuerKeys.Fetched>> fetches = new ArrayList<>();
  private long now = 1_000_000;
  private int changes;
  private final IssuerKeys keys =
      new IssuerKeys(
          () -> {
            fetches.add(Promise.promise());
            return fetches.get(fetches.size() - 1).future();
          },
          HOUR,
          () -> now,
          () -> changes++);

  private void answer(JWKSet published) {
    fetches.get(fetches.size() - 1).complete(new IssuerKeys.Fetched(published, HOUR));
  }

  private void fail() {
    fetches.get(fetches.size() - 1).fail("connection refused");
  }

  private void begin() {
    keys.with("old");
    answer(OLD);
  }

  @Test
  void tokensThatComeDuringTheFirstFetchShareIt() {
    List<Future<JWKSet>> waiting = IntStream.range(0, 100).mapToObj(i -> keys.with("old")).toList();

    answer(OLD);

    assertEquals(1, fetches.size());
    assertTrue(waiting.stream().allMatch(each -> each.result() == OLD));
  }

  @Test
  void keyOfARotationIsFetchedForTheFirstTokenThatNamesIt() {
    begin();
    now += TimeUnit.MINUTES.toMillis(1);

    Future<JWKSet> rotated = keys.with("new");
    assertTrue(keys.with("old").succeeded(), "good tokens do not wait");
    answer(NEW);

    assertEquals(NEW, rotated.result());
    assertEquals(2, changes);
    assertEquals(2, fetches.size());
  }

  @Test
  void newerKeysAreFetchedForTokensThatNameNoKey() {
    begin();
    assertTrue(keys.newerThan(OLD).failed(), "they were fetched just now");
    now += TimeUnit.MINUTES.toMillis(1);

    List<Future<JWKSet>> waiting =
        IntStream.range(0, 100).mapToObj(i -> keys.newerThan(OLD)).toList();
    answer(NEW);

    assertTrue(waiting.stream().allMatch(each -> each.result() == NEW));
    assertEquals(NEW, keys.newerThan(OLD).result());
    assertTrue(keys.newerThan(NEW).failed());
    assertEquals(2, fetches.size());
  }

  @Test
  void withdrawnKeyIsGone() {
    begin();
    now += HOUR;
    keys.with("old");
    answer(NEW);

    assertEquals(NEW, keys.with("new").result());
    Future<JWKSet> withdrawn = keys.with("old");
    assertEquals(NEW, withdrawn.result());
  }

  @Test
  void manyInventedKeysCauseOneFetchInThirtySeconds() {
    begin();
    now += TimeUnit.MINUTES.toMillis(1);

    IntStream.range(0, 10_000).forEach(i -> keys.with("invented" + i));
    answer(OLD);
    IntStream.range(0, 10_000).forEach(i -> assertEquals(OLD, keys.with("x" + i).result()));

    assertEquals(2, fetches.size());
    now += TimeUnit.SECONDS.toMillis(31);
    keys.with("again");
    assertEquals(3, fetches.size());
  }

  @Test
  void keysAreRefreshedBeforeTheyExpireWithoutDelay() {
    begin();
    now += HOUR * 4 / 5;

    assertEquals(OLD, keys.with("old").result());

    assertEquals(2, fetches.size());
    assertEquals(OLD, keys.with("old").result());
    assertEquals(2, fetches.size());
  }

  @Test
  void expiredKeysAreUsedForAWhileIfTheIssuerCannotBeReached() {
    begin();
    now += HOUR + HOUR - 1;
    assertEquals(OLD, keys.with("old").result());
    fail();
    assertEquals(OLD, keys.with("old").result());

    now += 1;
    assertTrue(keys.with("old").failed());
    now += TimeUnit.SECONDS.toMillis(31);
    Future<JWKSet> again = keys.with("old");
    assertFalse(again.isComplete());
    answer(OLD);
    assertEquals(OLD, again.result());
  }

  @Test
  void withoutKeysAFailingIssuerIsAskedEveryTwoSeconds() {
    Future<JWKSet> first = keys.with("old");
    fail();
    assertTrue(first.failed());
    assertTrue(keys.with("old").failed());
    assertEquals(1, fetches.size());

    now += 2_000;
    Future<JWKSet> second = keys.with("old");
    answer(OLD);
    assertEquals(OLD, second.result());
  }

  @Test
  void lifetimeOfKeysIsBounded() {
    keys.with("old");
    fetches.get(0).complete(new IssuerKeys.Fetched(OLD, 0));
    now += TimeUnit.MINUTES.toMillis(4) - 1;
    keys.with("old");
    assertEquals(1, fetches.size(), "not before four fifths of five minutes");
    now += 1;
    keys.with("old");
    assertEquals(2, fetches.size());
  }

  @Test
  void tokenWithAnUnknownKeyCannotBeJudgedWhileTheIssuerIsDown() {
    begin();
    now += TimeUnit.MINUTES.toMillis(1);
    Future<JWKSet> unknown = keys.with("new");
    fail();
    assertTrue(unknown.failed());
    assertTrue(keys.with("new").failed());
    assertEquals(OLD, keys.with("old").result());
  }
}
