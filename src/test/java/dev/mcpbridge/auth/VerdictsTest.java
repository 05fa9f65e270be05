package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import io.vertx.core.Future;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How long what is known about a token is used. */
class VerdictsTest {
  private static final long START = 1_000_000;

  private long now = START;
  private final Verdicts verdicts = new Verdicts(() -> now);

  private static Identity expiringAt(long millis) {
    return Identity.everywhere(
        new Principal(
            "corp|alice",
            Set.of(Scope.CALL),
            Set.of(),
            new Principal.Token("corp", "client", millis, Set.of(), Map.of())));
  }

  private void assertKnownFor(long millis) {
    now = START + millis - 1;
    assertEquals("corp|alice", verdicts.of("t").result().principal().name());
    now++;
    assertNull(verdicts.of("t"));
  }

  @Test
  void validSignatureIsKnownForAMinute() {
    verdicts.ofSignature("t", expiringAt(Long.MAX_VALUE));

    assertNull(verdicts.of("another"));
    assertKnownFor(60_000);
  }

  @Test
  void answerOfAnIssuerIsKnownForThirtySeconds() {
    verdicts.ofIssuer("t", Future.succeededFuture(expiringAt(Long.MAX_VALUE)));

    assertKnownFor(30_000);
  }

  @Test
  void tokenIsNotAcceptedAfterItHasExpired() {
    verdicts.ofSignature("t", expiringAt(START + 700));
    assertKnownFor(700);

    now = START;
    verdicts.ofIssuer("t", Future.succeededFuture(expiringAt(START + 900)));
    assertKnownFor(900);
  }

  @Test
  void refusalIsKnownForFiveSeconds() {
    Future<Identity> refusal = Future.failedFuture(Rejection.INACTIVE.failure());
    verdicts.ofIssuer("t", refusal);

    now += 4_999;
    assertSame(refusal, verdicts.of("t"));
    now++;
    assertNull(verdicts.of("t"));
  }

  @Test
  void nothingIsKnownFromAnIssuerThatCouldNotBeAsked() {
    verdicts.ofIssuer(
        "t", Future.failedFuture(new BridgeException(ErrorCode.ISSUER_UNAVAILABLE, "down")));

    assertNull(verdicts.of("t"));
  }

  @Test
  void newKeysOfAnIssuerEndAllThatIsKnown() {
    verdicts.ofSignature("t", expiringAt(Long.MAX_VALUE));

    verdicts.clear();

    assertNull(verdicts.of("t"));
  }
}
