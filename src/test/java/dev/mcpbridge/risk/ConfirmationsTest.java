package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.bus.Gate.ConfirmationList;
import dev.mcpbridge.bus.Gate.ConfirmationRequest;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
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
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConfirmationsTest {
  private static final Viewer ALICE = new Viewer("alice", false);
  private static final Viewer BOB = new Viewer("bob", false);
  private static final Viewer BOSS = new Viewer("boss", true);

  private long now = 1_000_000;
  private boolean severalCallers = true;
  private boolean isFull;
  private int queries;
  private Future<?> agreement = Future.succeededFuture();
  private Confirmations confirmations = confirmations(false, true);

  @Test
  void confirmationCanBeClaimedOnce() {
    PendingConfirmation pending = add("{\"a\":1}");

    assertEquals(
        "{\"a\":1}",
        confirmations.claim(approval(pending, ALICE)).result().call().arguments().text());
    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, approval(pending, ALICE));
  }

  @Test
  void executionIsReportedToViewersOfDecidedConfirmation() {
    PendingConfirmation approved = add("{}");
    PendingConfirmation rejected = add("{}");
    confirmations.claim(approval(approved, ALICE));
    confirmations.claim(
        new HumanDecision(rejected.confirmation().id(), false, rejected.token(), ALICE));

    assertEquals(Executed.UNKNOWN, executionOf(approval(approved, ALICE)));
    assertEquals(Executed.NO, executionOf(approval(rejected, ALICE)));
    confirmations.ended(approved.confirmation().id(), Executed.YES);
    assertEquals(Executed.YES, executionOf(approval(approved, ALICE)));
    assertEquals(Executed.NO, executionOf(approval(approved, BOB)));
    assertEquals(List.of(), pendingOf(ALICE).result());
  }

  @Test
  void endIsIgnoredForPendingConfirmation() {
    PendingConfirmation pending = add("{}");

    confirmations.ended(pending.confirmation().id(), Executed.YES);

    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
  }

  private Executed executionOf(HumanDecision decision) {
    BridgeException failure =
        assertInstanceOf(BridgeException.class, confirmations.claim(decision).cause());
    assertEquals(ErrorCode.CONFIRMATION_NOT_FOUND, failure.code());
    return failure.executed();
  }

  @Test
  void confirmationsOfOtherCallersAreInvisible() {
    PendingConfirmation pending = add("{}");

    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, approval(pending, BOB));
    assertEquals(List.of(), pendingOf(BOB).result());
    assertEquals(1, pendingOf(ALICE).result().size());
  }

  @Test
  void wrongTokensAreRejectedAndLimited() {
    PendingConfirmation pending = add("{}");
    HumanDecision guess = guess(pending);

    for (int i = 0; i < 10; i++) {
      assertFails(ErrorCode.WRONG_TOKEN, guess);
    }
    assertFails(ErrorCode.RATE_LIMITED, guess);
    now += 60_000;
    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
  }

  @Test
  void limitedAttemptsCauseNoQueries() {
    PendingConfirmation pending = add("{}");
    HumanDecision guess = guess(pending);
    for (int i = 0; i < 10; i++) {
      confirmations.claim(guess);
    }
    int before = queries;

    assertFails(ErrorCode.RATE_LIMITED, guess);

    assertEquals(before, queries);
  }

  @Test
  void concurrentAttemptsAreLimited() {
    PendingConfirmation pending = add("{}");
    HumanDecision guess = guess(pending);
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
    PendingConfirmation first = add("{}");
    for (int i = 1; i < 10_000; i++) {
      add("{}");
    }

    Future<PendingConfirmation> refused = confirmations.add(request("alice", "{}"));

    BridgeException failure = assertInstanceOf(BridgeException.class, refused.cause());
    assertEquals(ErrorCode.OVERLOADED, failure.code());
    assertTrue(confirmations.claim(approval(first, ALICE)).succeeded());
    assertTrue(confirmations.add(request("alice", "{}")).succeeded());
  }

  @Test
  void confirmationExpires() {
    PendingConfirmation pending = add("{}");

    now += 600_000;

    assertFails(ErrorCode.CONFIRMATION_EXPIRED, approval(pending, ALICE));
    assertEquals(List.of(), pendingOf(ALICE).result());
  }

  @Test
  void onlyAnOperatorDecidesIfConfigured() {
    confirmations = confirmations(true, true);
    PendingConfirmation pending = add("{}");

    assertNull(pending.token());
    assertFails(ErrorCode.FORBIDDEN, approval(pending, ALICE));
    assertFails(ErrorCode.FORBIDDEN, approval(pending, new Viewer("alice", true)));
    assertTrue(confirmations.claim(approval(pending, BOSS)).succeeded());
  }

  @Test
  void idSufficesIfNoTokenIsRequired() {
    confirmations = confirmations(false, false);
    PendingConfirmation pending = add("{}");

    HumanDecision decision = new HumanDecision(pending.confirmation().id(), true, null, ALICE);
    assertTrue(confirmations.claim(decision).succeeded());
  }

  @Test
  void pendingConfirmationKeepsItsExpiryAfterReload() {
    PendingConfirmation pending = add("{}");

    confirmations.reload(new RiskConfig(null, null, false, true, 1_000, 200));
    PendingConfirmation brief = add("{}");
    now += 599_999;

    assertEquals(1, pendingOf(ALICE).result().size());
    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, approval(brief, ALICE));
    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
  }

  @Test
  void operatorDecidesPendingConfirmationAfterReload() {
    PendingConfirmation pending = add("{}");

    confirmations.reload(new RiskConfig(null, null, true, true, 600_000, 200));

    assertFails(ErrorCode.FORBIDDEN, approval(pending, ALICE));
    assertTrue(confirmations.claim(approval(pending, BOSS)).succeeded());
  }

  @Test
  void operatorConfirmationStaysSoAfterReload() {
    confirmations = confirmations(true, true);
    PendingConfirmation pending = add("{}");

    confirmations.reload(new RiskConfig(null, null, false, false, 600_000, 200));

    assertFails(ErrorCode.FORBIDDEN, approval(pending, ALICE));
    assertTrue(confirmations.claim(approval(pending, BOSS)).succeeded());
  }

  @Test
  void wrongTokensOnlyLockTheirConfirmation() {
    PendingConfirmation guessed = add("{}");
    PendingConfirmation other = add("{}");
    HumanDecision guess = guess(guessed);
    for (int i = 0; i < 11; i++) {
      confirmations.claim(guess);
    }

    assertFails(ErrorCode.RATE_LIMITED, guess);
    assertTrue(confirmations.claim(approval(other, ALICE)).succeeded());
  }

  @Test
  void oneCallerCannotUseTheQuotaOfOthers() {
    for (int i = 0; i < 5_000; i++) {
      add("{}");
    }

    Throwable refusal = confirmations.add(request("alice", "{}")).cause();
    assertEquals(ErrorCode.RATE_LIMITED, assertInstanceOf(BridgeException.class, refusal).code());
    assertTrue(confirmations.add(request("bob", "{}")).succeeded());

    now += 600_000;
    assertNotNull(add("{}"));
  }

  @Test
  void fullMapRefusesConfirmationsAndTheyCountForNoQuota() {
    isFull = true;
    for (int i = 0; i < 5_000; i++) {
      Throwable refusal = confirmations.add(request("alice", "{}")).cause();
      assertEquals(ErrorCode.OVERLOADED, assertInstanceOf(BridgeException.class, refusal).code());
    }

    isFull = false;

    assertTrue(confirmations.add(request("alice", "{}")).succeeded());
  }

  @Test
  void decisionCountsIfThereIsNoRoomToKeepIt() {
    PendingConfirmation pending = add("{}");
    isFull = true;

    assertTrue(confirmations.claim(approval(pending, ALICE)).succeeded());
    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, approval(pending, ALICE));
    assertTrue(confirmations.ended(pending.confirmation().id(), Executed.YES).succeeded());
  }

  @Test
  void repeatedCallHasTheConfirmationThatWaitsAlsoAtAnotherNode() {
    SharedMap shared = map();
    Confirmations first = confirmations(shared, true, true);
    ConfirmationRequest call = request("alice", "{}");
    assertNull(first.repeated(call));

    Confirmation held = first.add(call).result().confirmation();

    for (Confirmations node : List.of(first, confirmations(shared, true, true))) {
      assertEquals(held.id(), node.repeated(call).id());
      assertNull(node.repeated(request("alice", "{\"a\":1}")), "another call");
      assertNull(node.repeated(request("bob", "{}")), "another caller");
      assertNull(node.repeated(new ConfirmationRequest(call.call(), "other")), "another tool");
    }
  }

  @Test
  void callIsHeldAnewOnceItsLastConfirmationIsOver() {
    confirmations = confirmations(true, true);
    ConfirmationRequest call = request("alice", "{}");
    PendingConfirmation first = confirmations.add(call).result();

    confirmations.claim(approval(first, BOSS));
    assertNull(confirmations.repeated(call), "decided");
    PendingConfirmation second = confirmations.add(call).result();
    assertNotEquals(first.confirmation().id(), second.confirmation().id());
    assertEquals(second.confirmation().id(), confirmations.repeated(call).id());
    now += 600_000;
    assertNull(confirmations.repeated(call), "expired");
    now += 1_200_000;
    assertNull(confirmations.repeated(call), "removed");
  }

  @Test
  void callThatItsCallerConfirmsIsHeldAnewEachTime() {
    add("{}");

    assertNull(confirmations.repeated(request("alice", "{}")), "its token was shown once");
  }

  @Test
  void unknownConfirmationIsNotFound() {
    assertFails(ErrorCode.CONFIRMATION_NOT_FOUND, new HumanDecision("x", true, "t", BOSS));
  }

  @Test
  void newestConfirmationsComeFirst() {
    String old = add("{}").confirmation().id();
    now += 1;
    String recent = add("{}").confirmation().id();

    assertEquals(
        List.of(recent, old),
        pendingOf(ALICE).result().stream().map(each -> each.confirmation().id()).toList());
  }

  @Test
  void digestCoversTheArguments() {

    assertNotEquals(
        add("{\"a\":1}").confirmation().digest(), add("{\"a\":2}").confirmation().digest());
  }

  private static HumanDecision guess(PendingConfirmation pending) {
    return new HumanDecision(pending.confirmation().id(), true, "0".repeat(32), ALICE);
  }

  private Future<List<ConfirmationState>> pendingOf(Viewer viewer) {
    return confirmations.visibleTo(new ConfirmationList(viewer, true));
  }

  private static HumanDecision approval(PendingConfirmation pending, Viewer by) {
    return new HumanDecision(pending.confirmation().id(), true, pending.token(), by);
  }

  private void assertFails(ErrorCode code, HumanDecision decision) {
    assertEquals(
        code,
        assertInstanceOf(BridgeException.class, confirmations.claim(decision).cause()).code());
  }

  private PendingConfirmation add(String arguments) {
    return confirmations.add(request("alice", arguments)).result();
  }

  private static ConfirmationRequest request(String caller, String arguments) {
    Call call =
        new Call(
            "c",
            new ServerId("s"),
            Target.tool("t"),
            JsonSlice.of(arguments),
            Caller.named(caller),
            0,
            false,
            Envelope.NONE,
            new CancellationToken());
    return new ConfirmationRequest(call, "definition");
  }

  /** A map that counts queries and delays their results until the test completes them. */
  private SharedMap counted(SharedMap map) {
    return (SharedMap)
        Proxy.newProxyInstance(
            SharedMap.class.getClassLoader(),
            new Class<?>[] {SharedMap.class},
            (proxy, method, arguments) -> {
              if (isFull && method.getName().equals("put")) {
                return Future.succeededFuture(
                    new SharedMap.Change(false, true, map.cached((String) arguments[0])));
              }
              Object done = method.invoke(map, arguments);
              if (!method.getName().equals("get")) {
                return done;
              }
              queries++;
              return agreement.compose(agreed -> (Future<?>) done);
            });
  }

  private Confirmations confirmations(boolean operator, boolean token) {
    return confirmations(map(), operator, token);
  }

  private Confirmations confirmations(SharedMap map, boolean operator, boolean token) {
    RiskConfig config = new RiskConfig(null, null, operator, token, 600_000, 200);
    return new Confirmations(config, clock(), counted(map), () -> severalCallers);
  }

  private SharedMap map() {
    return new SingleNode(clock()).map("confirmations");
  }

  private Clock clock() {
    InstantSource source = () -> Instant.ofEpochMilli(now);
    return source.withZone(ZoneOffset.UTC);
  }
}
