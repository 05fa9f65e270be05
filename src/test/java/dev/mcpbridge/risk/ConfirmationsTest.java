package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.bus.Addresses.ConfirmationRequest;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConfirmationsTest {
  private static final Viewer ALICE = new Viewer("alice", false);
  private static final Viewer BOB = new Viewer("bob", false);
  private static final Viewer BOSS = new Viewer("boss", true);

  private long now = 1_000_000;
  private boolean severalCallers = true;
  private int queries;
  private Future<?> agreement = Future.succeededFuture();

  @Test
  void confirmationCanBeClaimedOnce() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{\"a\":1}");

    assertEquals(
        "{\"a\":1}",
        confirmations.claim(approval(pending, ALICE)).result().call().arguments().text());
    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, confirmations, approval(pending, ALICE));
  }

  @Test
  void executionIsReportedToViewersOfDecidedConfirmation() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation approved = add(confirmations, "{}");
    PendingConfirmation rejected = add(confirmations, "{}");
    confirmations.claim(approval(approved, ALICE));
    confirmations.claim(
        new HumanDecision(rejected.confirmation().id(), false, rejected.token(), ALICE));

    assertEquals(Executed.UNKNOWN, executionOf(confirmations, approval(approved, ALICE)));
    assertEquals(Executed.NO, executionOf(confirmations, approval(rejected, ALICE)));
    confirmations.ended(approved.confirmation().id(), Executed.YES);
    assertEquals(Executed.YES, executionOf(confirmations, approval(approved, ALICE)));
    assertEquals(Executed.NO, executionOf(confirmations, approval(approved, BOB)));
    assertEquals(List.of(), confirmations.visibleTo(ALICE).result());
  }

  @Test
  void endIsIgnoredForPendingConfirmation() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");

    confirmations.ended(pending.confirmation().id(), Executed.YES);

    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
  }

  private static Executed executionOf(Confirmations confirmations, HumanDecision decision) {
    BridgeException failure =
        assertInstanceOf(BridgeException.class, confirmations.claim(decision).cause());
    assertEquals(ErrorCode.CONFIRMATION_NOT_FOUND, failure.code());
    return failure.executed();
  }

  @Test
  void confirmationsOfOtherCallersAreInvisible() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");

    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, confirmations, approval(pending, BOB));
    assertEquals(List.of(), confirmations.visibleTo(BOB).result());
    assertEquals(1, confirmations.visibleTo(ALICE).result().size());
  }

  @Test
  void wrongTokensAreRejectedAndLimited() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");
    HumanDecision guess =
        new HumanDecision(pending.confirmation().id(), true, "0".repeat(32), ALICE);

    for (int i = 0; i < 10; i++) {
      assertFails(ErrorCode.WRONG_TOKEN, confirmations, guess);
    }
    assertFails(ErrorCode.RATE_LIMITED, confirmations, guess);
    now += 60_000;
    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
  }

  @Test
  void limitedAttemptsCauseNoQueries() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");
    HumanDecision guess =
        new HumanDecision(pending.confirmation().id(), true, "0".repeat(32), ALICE);
    for (int i = 0; i < 10; i++) {
      confirmations.claim(guess);
    }
    int before = queries;

    assertFails(ErrorCode.RATE_LIMITED, confirmations, guess);

    assertEquals(before, queries);
  }

  @Test
  void concurrentAttemptsAreLimited() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");
    HumanDecision guess =
        new HumanDecision(pending.confirmation().id(), true, "0".repeat(32), ALICE);
    Promise<Void> agreed = Promise.promise();
    agreement = agreed.future();
    List<Future<Confirmation>> guesses =
        IntStream.range(0, 50).mapToObj(i -> confirmations.claim(guess)).toList();

    agreed.complete();

    assertEquals(
        10,
        guesses.stream()
            .map(each -> assertInstanceOf(BridgeException.class, each.cause()).code())
            .filter(code -> code != ErrorCode.RATE_LIMITED)
            .count());
  }

  @Test
  void atMostTenThousandConfirmationsArePending() {
    severalCallers = false;
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation first = add(confirmations, "{}");
    for (int i = 1; i < 10_000; i++) {
      add(confirmations, "{}");
    }

    Future<PendingConfirmation> refused =
        confirmations.add(new ConfirmationRequest(call("{}"), "d"));

    BridgeException failure = assertInstanceOf(BridgeException.class, refused.cause());
    assertEquals(ErrorCode.OVERLOADED, failure.code());
    assertTrue(confirmations.claim(approval(first, ALICE)).succeeded());
    assertTrue(confirmations.add(new ConfirmationRequest(call("{}"), "d")).succeeded());
  }

  @Test
  void confirmationExpires() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");

    now += 600_000;

    assertFails(ErrorCode.CONFIRMATION_EXPIRED, confirmations, approval(pending, ALICE));
    assertEquals(List.of(), confirmations.visibleTo(ALICE).result());
  }

  @Test
  void onlyAnOperatorDecidesIfConfigured() {
    Confirmations confirmations = confirmations(true, true);
    PendingConfirmation pending = add(confirmations, "{}");

    assertNull(pending.token());
    assertFails(ErrorCode.FORBIDDEN, confirmations, approval(pending, ALICE));
    assertFails(ErrorCode.FORBIDDEN, confirmations, approval(pending, new Viewer("alice", true)));
    assertTrue(confirmations.claim(approval(pending, BOSS)).succeeded());
  }

  @Test
  void idSufficesIfNoTokenIsRequired() {
    Confirmations confirmations = confirmations(false, false);
    PendingConfirmation pending = add(confirmations, "{}");

    HumanDecision decision = new HumanDecision(pending.confirmation().id(), true, null, ALICE);
    assertTrue(confirmations.claim(decision).succeeded());
  }

  @Test
  void pendingConfirmationKeepsItsExpiryAfterReload() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");

    confirmations.reload(new RiskConfig(null, null, false, true, 1_000, 200));
    PendingConfirmation brief = add(confirmations, "{}");
    now += 599_999;

    assertEquals(1, confirmations.visibleTo(ALICE).result().size());
    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, confirmations, approval(brief, ALICE));
    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
  }

  @Test
  void operatorDecidesPendingConfirmationAfterReload() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation pending = add(confirmations, "{}");

    confirmations.reload(new RiskConfig(null, null, true, true, 600_000, 200));

    assertFails(ErrorCode.FORBIDDEN, confirmations, approval(pending, ALICE));
    assertTrue(confirmations.claim(approval(pending, BOSS)).succeeded());
  }

  @Test
  void operatorConfirmationStaysSoAfterReload() {
    Confirmations confirmations = confirmations(true, true);
    PendingConfirmation pending = add(confirmations, "{}");

    confirmations.reload(new RiskConfig(null, null, false, false, 600_000, 200));

    assertFails(ErrorCode.FORBIDDEN, confirmations, approval(pending, ALICE));
    assertTrue(confirmations.claim(approval(pending, BOSS)).succeeded());
  }

  @Test
  void wrongTokensOnlyLockTheirConfirmation() {
    Confirmations confirmations = confirmations(false, true);
    PendingConfirmation guessed = add(confirmations, "{}");
    PendingConfirmation other = add(confirmations, "{}");
    HumanDecision guess =
        new HumanDecision(guessed.confirmation().id(), true, "0".repeat(32), ALICE);
    for (int i = 0; i < 11; i++) {
      confirmations.claim(guess);
    }

    assertFails(ErrorCode.RATE_LIMITED, confirmations, guess);
    assertTrue(confirmations.claim(approval(other, ALICE)).succeeded());
  }

  @Test
  void oneCallerCannotUseTheQuotaOfOthers() {
    Confirmations confirmations = confirmations(false, true);
    for (int i = 0; i < 5_000; i++) {
      add(confirmations, "{}");
    }

    Throwable refusal =
        confirmations.add(new ConfirmationRequest(call("{}"), "definition")).cause();
    assertEquals(ErrorCode.RATE_LIMITED, assertInstanceOf(BridgeException.class, refusal).code());
    Call bobs =
        new Call(
            "b",
            new ServerId("s"),
            Target.tool("t"),
            JsonSlice.EMPTY_OBJECT,
            Caller.of("bob"),
            0,
            false,
            Envelope.NONE);
    assertTrue(confirmations.add(new ConfirmationRequest(bobs, "definition")).succeeded());

    now += 600_000;
    assertNotNull(add(confirmations, "{}"));
  }

  @Test
  void digestCoversTheArguments() {
    Confirmations confirmations = confirmations(false, true);

    assertNotEquals(
        add(confirmations, "{\"a\":1}").confirmation().digest(),
        add(confirmations, "{\"a\":2}").confirmation().digest());
  }

  private static HumanDecision approval(PendingConfirmation pending, Viewer by) {
    return new HumanDecision(pending.confirmation().id(), true, pending.token(), by);
  }

  private static void assertFails(
      ErrorCode code, Confirmations confirmations, HumanDecision decision) {
    assertEquals(
        code,
        assertInstanceOf(BridgeException.class, confirmations.claim(decision).cause()).code());
  }

  private static PendingConfirmation add(Confirmations confirmations, String arguments) {
    return confirmations.add(new ConfirmationRequest(call(arguments), "definition")).result();
  }

  private static Call call(String arguments) {
    return new Call(
        "c",
        new ServerId("s"),
        Target.tool("t"),
        JsonSlice.of(arguments),
        Caller.of("alice"),
        0,
        false,
        Envelope.NONE);
  }

  /** A map that counts queries and delays their results until the test completes them. */
  private SharedMap counted(SharedMap map) {
    return (SharedMap)
        Proxy.newProxyInstance(
            SharedMap.class.getClassLoader(),
            new Class<?>[] {SharedMap.class},
            (proxy, method, arguments) -> {
              Object done = method.invoke(map, arguments);
              if (!method.getName().equals("get")) {
                return done;
              }
              queries++;
              return agreement.compose(agreed -> (Future<?>) done);
            });
  }

  private Confirmations confirmations(boolean operator, boolean token) {
    Clock clock =
        new Clock() {
          @Override
          public ZoneId getZone() {
            return ZoneId.of("UTC");
          }

          @Override
          public Clock withZone(ZoneId zone) {
            return this;
          }

          @Override
          public Instant instant() {
            return Instant.ofEpochMilli(now);
          }
        };
    return new Confirmations(
        new RiskConfig(null, null, operator, token, 600_000, 200),
        clock,
        counted(new SingleNode(clock).map("confirmations")),
        () -> severalCallers);
  }
}
