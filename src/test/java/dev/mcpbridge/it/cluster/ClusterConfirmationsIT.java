package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Approvals;
import dev.mcpbridge.fixture.Approvals.PendingConfirmation;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Confirmations can be decided at any node, exactly once, even if nodes are killed meanwhile. */
@Tag("cluster")
@Tag("slow")
class ClusterConfirmationsIT {
  private static final String BOSS = ApiKeys.generate();
  private static final String CALLER = ApiKeys.generate();
  private static final String GUARDED = "g";
  private static final List<Integer> ALL = List.of(1, 2, 3);

  /** Milliseconds; longer than it takes to kill a node meanwhile. */
  private static final int LONG = 20_000;

  @TempDir static Path folder;
  private static EffectLog effectLog;

  @AutoClose("stopAll")
  private static Nodes nodes;

  private static Approvals approvals;

  @BeforeAll
  static void start() throws Exception {
    effectLog = new EffectLog(folder);
    nodes = Nodes.start(folder, 3, effectLog.gatedServer(GUARDED));
    approvals = new Approvals(nodes, GUARDED);
  }

  @BeforeEach
  void allAreThere() throws Exception {
    nodes.startMissing();
    nodes.awaitPreferredOwners(List.of(GUARDED));
  }

  private static int owner() throws Exception {
    return nodes.owner(nodes.up().get(0), GUARDED);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void confirmationIsVisibleAtAllNodesAndConfirmedAtAnother(int node) throws Exception {
    PendingConfirmation confirmation = approvals.request(node, 1);
    JsonNode shown = nodes.get(node, confirmation.path()).body();
    for (String member : List.of("arguments", "digest", "expires_at", "tool_name", "server_id")) {
      assertTrue(shown.has(member), shown.toString());
      assertEquals(confirmation.answer().body().path(member), shown.path(member), shown.toString());
    }
    for (int other : ALL) {
      assertEquals(shown, nodes.get(other, confirmation.path()).body());
      assertTrue(approvals.listedIds(other).contains(confirmation.id()));
      Answer wrong =
          nodes.post(other, confirmation.path(), "{\"confirm\":true,\"token\":\"guessed\"}");
      assertEquals(403, wrong.status(), wrong.toString());
    }
    assertEquals(0, effectLog.count(confirmation.note()));

    Answer done = approvals.decide(1 + node % 3, confirmation, true);

    assertEquals("done", done.firstText(), done.toString());
    assertGone(confirmation);
    assertEquals(1, effectLog.count(confirmation.note()));
  }

  @Test
  void statelessClientConfirmsAtAnotherNode() throws Exception {
    String members = "\"name\":\"effect\",\"arguments\":{\"note\":\"g stateless\"}";
    McpClient client = stateless(1);
    JsonNode asked = client.stateless("tools/call", members).result();
    assertEquals("input_required", asked.path("resultType").asText(), asked.toString());
    String repeated =
        members
            + ",\"requestState\":\""
            + asked.path("requestState").asText()
            + "\",\"inputResponses\":{\"confirmation\":{\"action\":\"accept\","
            + "\"content\":{\"confirm\":true}}}";

    McpClient.Reply done = stateless(2).stateless("tools/call", repeated);

    assertEquals("done", done.firstText(), done.text());
    assertEquals(-32602, stateless(3).stateless("tools/call", repeated).errorCode());
    assertEquals(1, effectLog.count("stateless"));
  }

  private static McpClient stateless(int node) {
    return new McpClient(nodes.uri(node, "/servers/" + GUARDED + "/mcp"), "{\"elicitation\":{}}");
  }

  @Test
  void rejectedConfirmationCannotBeConfirmedAtAnyNode() throws Exception {
    for (int node : ALL) {
      PendingConfirmation confirmation = approvals.request(node, 1);

      Answer refused = approvals.decide(1 + node % 3, confirmation, false);

      assertEquals(200, refused.status());
      assertEquals("rejected", refused.at("/status"));
      assertGone(confirmation);
      assertEquals(0, effectLog.count(confirmation.note()));
    }
  }

  /** No node shows the confirmation or accepts a decision about it. */
  private static void assertGone(PendingConfirmation confirmation) throws Exception {
    for (int node : nodes.up()) {
      assertFalse(approvals.listedIds(node).contains(confirmation.id()));
      Answer shown = nodes.get(node, confirmation.path());
      assertFalse(shown.body().path("requires_confirmation").asBoolean(), shown.toString());
      Answer again = approvals.decide(node, confirmation, true);
      assertEquals("404 confirmation_not_found", again.status() + " " + again.code());
    }
  }

  @Test
  void concurrentConfirmationsAtTwoNodesRunTheCallOnce() throws Exception {
    List<PendingConfirmation> all = new ArrayList<>();
    ALL.forEach(node -> all.addAll(approvals.requestMany(node, 70)));

    assertEachRunsOnce(all, ALL);
  }

  /** Confirms each at two nodes concurrently. */
  private static void assertEachRunsOnce(List<PendingConfirmation> all, List<Integer> at)
      throws Exception {
    List<List<CompletableFuture<Answer>>> answers = confirmAtTwo(all, at);
    for (int i = 0; i < all.size(); i++) {
      assertEquals(List.of("200", "404 confirmation_not_found"), outcomes(answers.get(i)));
      assertEquals(1, effectLog.count(all.get(i).note()));
    }
  }

  private static List<List<CompletableFuture<Answer>>> confirmAtTwo(
      List<PendingConfirmation> all, List<Integer> at) {
    List<List<CompletableFuture<Answer>>> answers = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      List<Integer> pair = List.of(at.get(i % at.size()), at.get((i + 1) % at.size()));
      answers.add(approvals.confirm(pair, all.get(i)));
    }
    return answers;
  }

  private static String outcome(Answer answer) {
    return answer.status() == 200 ? "200" : answer.status() + " " + answer.code();
  }

  @Test
  void confirmationsSurviveTheDeathOfThePrimary() throws Exception {
    int dead = nodes.primary(1);
    List<PendingConfirmation> all = approvals.requestMany(dead, 100);

    nodes.kill(dead);

    nodes.until(() -> nodes.areMembers(nodes.up()));
    assertEachRunsOnce(all, nodes.up());
  }

  @Test
  void confirmationsSurviveTheDeathOfTheirNode() throws Exception {
    int dead = owner();
    List<PendingConfirmation> all = approvals.requestMany(dead, 1_000);

    nodes.kill(dead);

    nodes.until(() -> nodes.areMembers(nodes.up()));
    for (int from = 0; from < all.size(); from += 100) {
      assertEachRunsOnce(all.subList(from, from + 100), nodes.up());
    }
  }

  /** Confirms before the other nodes have detected the failure. */
  @Test
  void confirmationDuringTheDeathOfItsNodeRunsOnceOrFails() throws Exception {
    int dead = nodes.primary(1);
    List<PendingConfirmation> all = approvals.requestMany(dead, 100);

    nodes.kill(dead);
    List<List<CompletableFuture<Answer>>> answers = confirmAtTwo(all, nodes.up());

    assertEachRunsOnceOrFails(all, answers);
  }

  @Test
  void confirmationsAreAnsweredAfterAllNodesWerePaused() throws Exception {
    List<PendingConfirmation> all = new ArrayList<>();
    ALL.forEach(node -> all.addAll(approvals.requestMany(node, 70)));

    for (int node : ALL) {
      nodes.pause(node);
    }
    List<List<CompletableFuture<Answer>>> answers = confirmAtTwo(all, ALL);
    TimeUnit.SECONDS.sleep(3); // stay paused: the duration of the pause is what is tested
    for (int node : ALL) {
      nodes.resume(node);
    }

    assertEachRunsOnceOrFails(all, answers);
  }

  private static void assertEachRunsOnceOrFails(
      List<PendingConfirmation> all, List<List<CompletableFuture<Answer>>> answers)
      throws Exception {
    for (int i = 0; i < all.size(); i++) {
      List<String> pair = outcomes(answers.get(i));
      long done = pair.stream().filter("200"::equals).count();
      boolean isUnknown = pair.contains("502 node_lost");
      assertTrue(
          done == 1 || done == 0 && (isUnknown || pair.contains("503 no_quorum")), "" + pair);
      int times = effectLog.count(all.get(i).note());
      assertTrue(times == done || isUnknown && times == 1, times + " " + pair);
    }
  }

  private static List<String> outcomes(List<CompletableFuture<Answer>> answers) throws Exception {
    List<String> outcomes = new ArrayList<>();
    for (CompletableFuture<Answer> answer : answers) {
      outcomes.add(outcome(answer.get(60, TimeUnit.SECONDS)));
    }
    return outcomes.stream().sorted().toList();
  }

  @Test
  void confirmationWithoutMajorityFailsAndCanBeRetried() throws Exception {
    int remaining = owner();
    List<Integer> paused = nodes.others(remaining);
    PendingConfirmation confirmation = approvals.request(remaining, 1);
    for (int node : paused) {
      nodes.pause(node);
    }

    Answer refused = approvals.decide(remaining, confirmation, true);

    assertEquals("503 no_quorum no", outcomeAndExecuted(refused));
    for (int node : paused) {
      nodes.resume(node);
    }
    nodes.awaitMembers();
    assertEquals(0, effectLog.count(confirmation.note()));
    Answer second = approvals.decide(paused.get(0), confirmation, true);
    assertTrue(
        List.of("200", "404 confirmation_not_found").contains(outcome(second)), second.toString());
    assertGone(confirmation);
    assertEquals(second.status() == 200 ? 1 : 0, effectLog.count(confirmation.note()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callRunningAtAKilledNodeIsNeverRepeated(boolean killsOwner) throws Exception {
    int owner = owner();
    int door = nodes.anyOther(owner);
    PendingConfirmation confirmation = approvals.request(nodes.anyOther(owner, door), LONG);
    CompletableFuture<Answer> running = approvals.confirm(List.of(door), confirmation).get(0);
    nodes.until(() -> effectLog.count(confirmation.note()) == 1);

    nodes.kill(killsOwner ? owner : door);

    String end =
        running
            .handle((answer, failure) -> failure == null ? outcomeAndExecuted(answer) : "lost")
            .get();
    assertEquals(killsOwner ? "502 node_lost unknown" : "lost", end);
    assertGone(confirmation);
    nodes.startMissing();
    nodes.assertAllAnswer(List.of(GUARDED));
    assertGone(confirmation);
    assertEquals(1, effectLog.count(confirmation.note()));
  }

  private static String outcomeAndExecuted(Answer answer) {
    return outcome(answer) + " " + answer.at("/executed");
  }

  @Test
  void pendingConfirmationsSurviveTheDeathOfAllNodes() throws Exception {
    List<PendingConfirmation> all = new ArrayList<>();
    ALL.forEach(node -> all.addAll(approvals.requestMany(node, 3)));

    for (int node : ALL) {
      nodes.kill(node);
    }
    nodes.startMissing();
    nodes.awaitReady(List.of(GUARDED));
    nodes.assertAllAnswer(List.of(GUARDED));

    for (PendingConfirmation confirmation : all) {
      assertEquals(0, effectLog.count(confirmation.note()));
    }
    assertEachRunsOnce(all, ALL);
  }

  @Test
  void progressIsStreamedAtTheConfirmingNode() throws Exception {
    String arguments = "{\"steps\":3,\"note\":\"g steps\"}";
    for (int node : ALL) {
      Answer confirmation = nodes.call(node, GUARDED, "effect", arguments);
      String path = "/confirmations/" + confirmation.at("/confirmation_id");
      String yes = "{\"confirm\":true,\"token\":" + confirmation.body().path("token") + "}";

      Answer answer = nodes.post(1 + node % 3, path, yes, "accept", "text/event-stream");

      assertEquals(List.of("progress", "progress", "progress", "result"), answer.events());
    }
  }

  @Test
  void confirmationsSurviveARollingRestart() throws Exception {
    List<PendingConfirmation> all = approvals.requestMany(1, 30);

    for (int node : ALL) {
      nodes.stop(node);
      nodes.awaitMembers();
      nodes.startMissing();
    }

    assertEachRunsOnce(all, ALL);
  }

  @Test
  void operatorApprovesAtAnotherNodeAlsoIfTheFirstWasKilled(@TempDir Path own) throws Exception {
    EffectLog marks = new EffectLog(own);
    try (Nodes guarded = withOperator(own, marks)) {
      Approvals pending = new Approvals(guarded, GUARDED);
      assertOnlyTheOperatorApproves(guarded, pending, marks);
      assertRepetitionThatWaitsHasTheOutcome(guarded, pending, marks);
      List<PendingConfirmation> all = pending.requestMany(1, 50);

      guarded.kill(1);

      guarded.until(() -> guarded.areMembers(List.of(2, 3)));
      for (PendingConfirmation confirmation : all) {
        assertEquals(
            List.of("200", "404 confirmation_not_found"),
            outcomes(pending.confirm(List.of(2, 3), confirmation, "x-api-key", BOSS)));
        assertEquals(1, marks.count(confirmation.note()));
      }
      guarded.stopAll();
    }
  }

  private static void assertOnlyTheOperatorApproves(
      Nodes guarded, Approvals pending, EffectLog marks) throws Exception {
    PendingConfirmation confirmation = pending.request(1, 1);
    assertTrue(confirmation.answer().body().path("token").isMissingNode());
    for (int node : ALL) {
      assertEquals(403, pending.decide(node, confirmation, true).status());
      Answer shown = guarded.get(node, confirmation.path(), "x-api-key", BOSS);
      assertEquals("caller", shown.at("/caller"), shown.toString());
      assertEquals(confirmation.id(), pending.repeat(node, confirmation).id());
    }
    assertEquals(0, marks.count(confirmation.note()));

    assertEquals("done", pending.decide(2, confirmation, true, "x-api-key", BOSS).firstText());

    assertEquals(404, pending.decide(3, confirmation, true, "x-api-key", BOSS).status());
    for (int node : ALL) {
      Answer fetched = guarded.get(node, confirmation.path(), "prefer", "wait=10");
      assertEquals("done", fetched.at("/status"), fetched.toString());
      assertEquals("done", fetched.at("/result/content/0/text"));
    }
    assertEquals(1, marks.count(confirmation.note()));
  }

  private static void assertRepetitionThatWaitsHasTheOutcome(
      Nodes guarded, Approvals pending, EffectLog marks) throws Exception {
    PendingConfirmation confirmation = pending.request(1, 1);
    URI endpoint = guarded.uri(3, "/servers/" + GUARDED + "/mcp");
    McpClient client = new McpClient(endpoint, "{}", "x-api-key", CALLER).initialized();
    try (BufferedReader stream = client.stream("tools/call", repetition(confirmation))) {
      assertEquals("notifications/progress", McpClient.next(stream).path("method").asText());

      pending.decide(2, confirmation, true, "x-api-key", BOSS);

      JsonNode last = McpClient.next(stream);
      while (!last.has("id")) {
        last = McpClient.next(stream);
      }
      assertEquals("done", last.at("/result/content/0/text").asText(), last.toString());
    }
    assertEquals(1, marks.count(confirmation.note()));
  }

  private static String repetition(PendingConfirmation of) {
    return "\"name\":\"effect\",\"arguments\":%s,\"_meta\":{\"progressToken\":1}"
        .formatted(of.answer().body().path("arguments"));
  }

  private static Nodes withOperator(Path own, EffectLog marks) throws Exception {
    String config =
        "'auth':{'keys':[%s,%s]},'risk':{'approver':'operator'},'mcpServers':{%s}"
            .formatted(
                TestBridge.key("boss", BOSS, "'read','call','approve'"),
                TestBridge.key("caller", CALLER, "'read','call'"),
                marks.gatedServer(GUARDED));
    Nodes guarded = Nodes.withKey(own, 3, config, CALLER);
    guarded.awaitPreferredOwners(List.of(GUARDED));
    return guarded;
  }
}
