package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ApprovedOutcome;
import dev.mcpbridge.bus.Gate.Assessment;
import dev.mcpbridge.bus.Gate.ConfirmationList;
import dev.mcpbridge.bus.Gate.ConfirmationQuery;
import dev.mcpbridge.bus.Gate.ConfirmationRequest;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.ConfirmationState.Status;
import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.MetricsPage;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The addresses of the gate, and what is reported of confirmations. */
@ExtendWith(VertxExtension.class)
class RiskVerticleTest {
  private static final Viewer ALICE = new Viewer("alice", false);
  private static final RiskConfig CONFIG = config(null, 600_000);

  private final BlockingQueue<BridgeEvent> events = new LinkedBlockingQueue<>();
  private final BlockingQueue<Notice> notices = new LinkedBlockingQueue<>();
  private final BlockingQueue<AuditRecord> records = new LinkedBlockingQueue<>();
  private final Counts counts = new Counts();
  private Vertx vertx;
  private Bus bus;
  private RiskVerticle gate;

  private static RiskConfig config(RiskLevel defaultLevel, long expiryMillis) {
    return new RiskConfig(defaultLevel, null, false, true, expiryMillis, 200);
  }

  @BeforeEach
  void deploy(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    this.vertx = vertx;
    SingleNode alone = new SingleNode(Clock.systemUTC());
    bus = BusFixture.of(vertx, alone, counts);
    bus.subscribe(Addresses.EVENTS, events::add);
    bus.serve(Addresses.NOTICES, notice -> taken(notices.add(notice)));
    bus.serve(Addresses.AUDIT, record -> taken(records.add(record)));
    gate = new RiskVerticle(bus, alone, CONFIG, () -> true);
    vertx.deployVerticle(gate).await(20, TimeUnit.SECONDS);
  }

  private static Future<Void> taken(boolean added) {
    return Future.succeededFuture();
  }

  private <Q, A> A ask(Address<Q, A> address, Q question) throws Exception {
    return EventLoops.await(vertx, () -> bus.request(address, question));
  }

  private PendingConfirmation hold(String arguments) throws Exception {
    Call call =
        new Call(
            "c",
            new ServerId("s"),
            Target.tool("pay"),
            JsonSlice.of(arguments),
            Caller.named("alice"),
            0,
            false,
            Envelope.NONE,
            new CancellationToken());
    return ask(Gate.CONFIRM_LATER, new ConfirmationRequest(call, "definition"));
  }

  private static HumanDecision decision(PendingConfirmation held, boolean isApproval) {
    return new HumanDecision(held.confirmation().id(), isApproval, held.token(), ALICE);
  }

  private Status statusOf(PendingConfirmation held) throws Exception {
    return ask(Gate.CONFIRMATION, new ConfirmationQuery(held.confirmation().id(), ALICE)).status();
  }

  private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
    return Objects.requireNonNull(queue.poll(20, TimeUnit.SECONDS), "not within 20 s");
  }

  private static JsonNode json(JsonSlice text) throws IOException {
    return Json.tree(text);
  }

  private void assertEvent(PendingConfirmation held, String status) throws Exception {
    BridgeEvent event = next(events);
    assertEquals("confirmation", event.name());
    assertEquals("alice", event.audience());
    assertEquals(
        Json.tree(
            JsonSlice.of(
                """
                {"confirmation_id":"%s","status":"%s","server_id":"s","method":"tools/call",\
                "tool_name":"pay"}\
                """
                    .formatted(held.confirmation().id(), status))),
        json(event.data()));
  }

  @Test
  void callIsAssessedByTheRulesOfTheLastReload() throws Exception {
    Assessment call = new Assessment(Target.tool("pay"), RiskRules.NONE, false, RiskLevel.LOW);
    assertEquals(Decision.ALLOW, ask(Gate.ASSESS, call));
    assertEquals(RiskLevel.LOW, level());

    gate.reload(config(RiskLevel.HIGH, 600_000));

    assertEquals(Decision.ISOLATE, ask(Gate.ASSESS, call));
    assertEquals(RiskLevel.HIGH, level());
  }

  private RiskLevel level() throws Exception {
    return ask(Gate.GRADING, null).grade(Target.tool("pay"), RiskRules.NONE, false).level();
  }

  @Test
  void heldCallIsReportedWithoutItsArguments() throws Exception {
    PendingConfirmation held = hold("{\"amount\":5}");

    assertEvent(held, "pending");
    Notice notice = next(notices);
    assertEquals(Notice.Type.CONFIRMATION_PENDING, notice.type());
    assertEquals("alice", notice.source());
    assertEquals("{\"amount\":5}", notice.arguments().text());
    JsonNode data = json(notice.data());
    assertEquals(held.confirmation().id(), data.path("confirmation_id").asText());
    assertEquals("s", data.path("server_id").asText());
    assertEquals("tools/call", data.path("method").asText());
    assertEquals("pay", data.path("tool_name").asText());
    assertEquals(2, data.path("risk_level").asInt());
    assertEquals("alice", data.path("caller").asText());
    assertEquals(held.confirmation().digest(), data.path("digest").asText());
    assertEquals(
        held.confirmation().expiresAtMillis(),
        Instant.parse(data.path("expires_at").asText()).toEpochMilli());
    assertFalse(data.has("decided_by"));
    assertFalse(data.toString().contains("amount"));
    assertTrue(records.isEmpty());
  }

  @Test
  void heldCallIsShownUntilItIsDecided() throws Exception {
    PendingConfirmation held = hold("{}");
    assertEquals(Status.PENDING, statusOf(held));
    assertEquals(1, ask(Gate.CONFIRMATIONS, new ConfirmationList(ALICE, true)).size());
    assertEquals(1, metric("approvals_pending"));

    Confirmation approved = ask(Gate.DECIDE, decision(held, true));

    assertEquals(held.confirmation().id(), approved.id());
    assertEquals(Status.APPROVED, statusOf(held));
    assertEquals(List.of(), ask(Gate.CONFIRMATIONS, new ConfirmationList(ALICE, true)));
    assertEquals(1, ask(Gate.CONFIRMATIONS, new ConfirmationList(ALICE, false)).size());
    assertEquals(0, metric("approvals_pending"));
  }

  /** A value of the page of metrics. */
  private double metric(String series) {
    String page =
        new String(
            MetricsPage.write(null, counts, any -> true, 0, List.of(), null, new MetricSnapshots())
                .body(),
            StandardCharsets.UTF_8);
    return MetricsText.values(page, "mcp_bridge_" + series).findFirst().orElseThrow();
  }

  @Test
  void approvalIsReportedWithItsApproverAndReason() throws Exception {
    PendingConfirmation held = hold("{}");
    next(events);
    next(notices);

    ask(
        Gate.DECIDE,
        new HumanDecision(held.confirmation().id(), true, held.token(), ALICE, "it is fine"));

    assertEvent(held, "approved");
    Notice notice = next(notices);
    assertEquals(Notice.Type.CONFIRMATION_APPROVED, notice.type());
    assertEquals("alice", json(notice.data()).path("decided_by").asText());
    AuditRecord record = next(records);
    assertEquals("confirmation", record.event());
    JsonNode members = json(JsonSlice.of(record.toString()));
    assertEquals(held.confirmation().id(), members.path("confirmation").asText());
    assertEquals("approve", members.path("decision").asText());
    assertEquals("alice", members.path("principal").asText());
    assertEquals("s", members.path("server").asText());
    assertEquals("tool", members.path("kind").asText());
    assertEquals("pay", members.path("name").asText());
    assertEquals(held.confirmation().digest(), members.path("digest").asText());
    assertEquals("alice", members.path("approver").asText());
    assertEquals("it is fine", members.path("reason").asText());
    assertEquals(1, metric("approval_wait_seconds_count"));
    assertTrue(metric("approval_wait_seconds_sum") < 20);
    assertEquals(1, metric("approvals_total{decision=\"approved\"}"));
  }

  @Test
  void rejectedCallIsReportedAndNotReturned() throws Exception {
    PendingConfirmation held = hold("{}");
    next(events);
    next(notices);

    assertNull(ask(Gate.DECIDE, decision(held, false)));

    assertEvent(held, "rejected");
    assertEquals(Notice.Type.CONFIRMATION_REJECTED, next(notices).type());
    JsonNode members = json(JsonSlice.of(next(records).toString()));
    assertEquals("reject", members.path("decision").asText());
    assertFalse(members.has("reason"));
    assertEquals(Status.REJECTED, statusOf(held));
  }

  @Test
  void refusedDecisionIsOnlyInTheAuditTrail() throws Exception {
    PendingConfirmation held = hold("{}");
    next(events);
    next(notices);

    BridgeException refused =
        assertThrows(
            BridgeException.class,
            () ->
                ask(
                    Gate.DECIDE,
                    new HumanDecision(held.confirmation().id(), true, "wrong", ALICE)));

    assertEquals(ErrorCode.WRONG_TOKEN, refused.code());
    assertEquals(Status.PENDING, statusOf(held));
    assertTrue(events.isEmpty());
    assertTrue(notices.isEmpty());
    JsonNode members = json(JsonSlice.of(next(records).toString()));
    assertEquals("refuse", members.path("decision").asText());
    assertEquals("wrong_token", members.path("code").asText());
    assertEquals(held.confirmation().id(), members.path("confirmation").asText());
    assertEquals(ALICE.name(), members.path("approver").asText());
  }

  @Test
  void attemptsBeyondTheirLimitAreNotRecorded() throws Exception {
    PendingConfirmation held = hold("{}");
    HumanDecision guess = new HumanDecision(held.confirmation().id(), true, "wrong", ALICE);
    ErrorCode last = ErrorCode.WRONG_TOKEN;
    int recorded = 0;
    while (last == ErrorCode.WRONG_TOKEN) {
      last = assertThrows(BridgeException.class, () -> ask(Gate.DECIDE, guess)).code();
      recorded += last == ErrorCode.WRONG_TOKEN ? 1 : 0;
    }

    for (int i = 0; i < 100; i++) {
      assertThrows(BridgeException.class, () -> ask(Gate.DECIDE, guess));
    }

    assertEquals(ErrorCode.RATE_LIMITED, last);
    assertEquals(recorded, records.size());
  }

  @Test
  void decisionAboutAnUnknownConfirmationIsNotRecorded() {
    BridgeException unknown =
        assertThrows(
            BridgeException.class,
            () -> ask(Gate.DECIDE, new HumanDecision("unknown", true, "wrong", ALICE)));

    assertEquals(ErrorCode.CONFIRMATION_NOT_FOUND, unknown.code());
    assertTrue(records.isEmpty());
  }

  @Test
  void endOfTheApprovedCallIsKept() throws Exception {
    PendingConfirmation held = hold("{}");
    ask(Gate.DECIDE, decision(held, true));

    ask(Gate.APPROVED_ENDED, new ApprovedOutcome(held.confirmation().id(), Executed.YES));

    ConfirmationState state =
        ask(Gate.CONFIRMATION, new ConfirmationQuery(held.confirmation().id(), ALICE));
    assertEquals(Executed.YES, state.executed());
  }

  @Test
  void expiryIsReportedOnce() throws Exception {
    gate.reload(config(null, 300));
    PendingConfirmation held = hold("{}");
    assertEvent(held, "pending");
    next(notices);

    assertEvent(held, "expired");
    assertEquals(Notice.Type.CONFIRMATION_EXPIRED, next(notices).type());
    JsonNode members = json(JsonSlice.of(next(records).toString()));
    assertEquals("expire", members.path("decision").asText());
    assertFalse(members.has("approver"));
    assertEquals(0, metric("approvals_pending"));
    assertThrows(BridgeException.class, () -> ask(Gate.DECIDE, decision(held, true)));
    assertTrue(events.isEmpty());
  }

  @Test
  void confirmationThatAnotherNodeHasDecidedIsAwaitedNoLonger() throws Exception {
    PendingConfirmation held = hold("{}");
    assertEvent(held, "pending");
    PendingConfirmation other = hold("{\"other\":1}");
    assertEvent(other, "pending");
    String data =
        "{\"confirmation_id\":\"%s\",\"status\":\"approved\"}".formatted(held.confirmation().id());

    bus.publish(Addresses.EVENTS, new BridgeEvent("server", JsonSlice.of(data), null, null, null));
    bus.publish(
        Addresses.EVENTS,
        new BridgeEvent(
            "confirmation",
            JsonSlice.of(data.replace("approved", "pending")),
            "alice",
            null,
            null));
    next(events);
    next(events);
    assertEquals(2, metric("approvals_pending"));
    bus.publish(
        Addresses.EVENTS, new BridgeEvent("confirmation", JsonSlice.of(data), "alice", null, null));
    next(events);
    ask(Gate.GRADING, null);

    assertEquals(1, metric("approvals_pending"));
  }

  @Test
  void repeatedCallIsReportedOnce() throws Exception {
    gate.reload(new RiskConfig(null, null, true, true, 600_000, 200));
    PendingConfirmation held = hold("{}");
    assertEvent(held, "pending");

    assertEquals(held.confirmation().id(), hold("{}").confirmation().id());

    ask(Gate.GRADING, null);
    assertTrue(events.isEmpty());
    assertEquals(1, notices.size());
  }
}
