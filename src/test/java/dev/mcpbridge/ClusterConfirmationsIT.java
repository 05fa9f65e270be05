package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Approvals;
import dev.mcpbridge.fixture.Approvals.Asked;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What waits for a human is decided at any node, and once, whoever is killed meanwhile. */
@ExtendWith(Nodes.Shown.class)
class ClusterConfirmationsIT {
  private static final String BOSS = ApiKeys.generate();
  private static final String CALLER = ApiKeys.generate();
  private static final String GUARDED = "g";
  private static final List<Integer> ALL = List.of(1, 2, 3);

  /** Longer than it takes to kill somebody meanwhile. */
  private static final int LONG = 20_000;

  @TempDir static Path folder;
  private static EffectLog effectLog;
  private static Nodes nodes;
  private static Approvals approvals;

  @BeforeAll
  static void start() throws Exception {
    effectLog = new EffectLog(folder);
    nodes = Nodes.start(folder, 3, effectLog.guarded(GUARDED));
    approvals = new Approvals(nodes, GUARDED);
  }

  @BeforeEach
  void allAreThere() throws Exception {
    nodes.startMissing();
    nodes.awaitHome(List.of(GUARDED));
  }

  @AfterAll
  static void stop() throws Exception {
    nodes.end();
  }

  private static int owner() throws Exception {
    return nodes.owner(nodes.up().get(0), GUARDED);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void whatIsAskedAtOneNodeIsShownAtAllAndConfirmedAtAnother(int node) throws Exception {
    Asked asked = approvals.ask(node, 1);
    JsonNode shown = nodes.get(node, asked.path()).body();
    for (String member : List.of("arguments", "digest", "expires_at", "tool_name", "server_id")) {
      assertTrue(shown.has(member), shown.toString());
      assertEquals(asked.answer().body().path(member), shown.path(member), shown.toString());
    }
    for (int other : ALL) {
      assertEquals(shown, nodes.get(other, asked.path()).body());
      assertTrue(approvals.listed(other).contains(asked.id()));
      Answer wrong = nodes.post(other, asked.path(), "{\"confirm\":true,\"token\":\"guessed\"}");
      assertEquals(403, wrong.status(), wrong.toString());
    }
    assertEquals(0, effectLog.times(asked.note()));

    Answer done = approvals.decide(1 + node % 3, asked, true);

    assertEquals("done", done.said(), done.toString());
    assertGone(asked);
    assertEquals(1, effectLog.times(asked.note()));
  }

  @Test
  void whatIsRefusedAtOneNodeIsConfirmedAtNone() throws Exception {
    for (int node : ALL) {
      Asked asked = approvals.ask(node, 1);

      Answer refused = approvals.decide(1 + node % 3, asked, false);

      assertEquals(200, refused.status());
      assertEquals("rejected", refused.body().path("status").asText());
      assertGone(asked);
      assertEquals(0, effectLog.times(asked.note()));
    }
  }

  /** No node shows it, or does anything about it any more. */
  private static void assertGone(Asked asked) throws Exception {
    for (int node : nodes.up()) {
      assertFalse(approvals.listed(node).contains(asked.id()));
      Answer shown = nodes.get(node, asked.path());
      assertFalse(shown.body().path("requires_confirmation").asBoolean(), shown.toString());
      Answer again = approvals.decide(node, asked, true);
      assertEquals("404 confirmation_not_found", again.status() + " " + again.code());
    }
  }

  @Test
  void ofTwoNodesThatConfirmAtTheSameMomentOneExecutes() throws Exception {
    List<Asked> all = new ArrayList<>();
    ALL.forEach(node -> all.addAll(approvals.askMany(node, 70)));

    assertEachRunsOnce(all, ALL);
  }

  /** Confirms each at two of the nodes at once, all at the same time. */
  private static void assertEachRunsOnce(List<Asked> all, List<Integer> at) throws Exception {
    List<List<CompletableFuture<Answer>>> answers = confirmedAtTwo(all, at);
    for (int i = 0; i < all.size(); i++) {
      assertEquals(List.of("200", "404 confirmation_not_found"), outcomes(answers.get(i)));
      assertEquals(1, effectLog.times(all.get(i).note()));
    }
  }

  private static List<List<CompletableFuture<Answer>>> confirmedAtTwo(
      List<Asked> all, List<Integer> at) {
    List<List<CompletableFuture<Answer>>> answers = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      List<Integer> two = List.of(at.get(i % at.size()), at.get((i + 1) % at.size()));
      answers.add(approvals.confirm(two, all.get(i)));
    }
    return answers;
  }

  private static String outcome(Answer answer) {
    return answer.status() == 200 ? "200" : answer.status() + " " + answer.code();
  }

  @Test
  void whatWasAskedAtAPrimaryThatIsKilledIsConfirmedAtTheOthersOnce() throws Exception {
    int dead = nodes.primary(1);
    List<Asked> all = approvals.askMany(dead, 100);

    nodes.kill(dead);

    nodes.until(() -> nodes.areMembers(nodes.up()));
    assertEachRunsOnce(all, nodes.up());
  }

  @Test
  void ofAThousandThatWereAskedAtAnOwnerThatIsKilledEachIsConfirmedAtTheOthersOnce()
      throws Exception {
    int dead = owner();
    List<Asked> all = approvals.askMany(dead, 1_000);

    nodes.kill(dead);

    nodes.until(() -> nodes.areMembers(nodes.up()));
    for (int from = 0; from < all.size(); from += 100) {
      assertEachRunsOnce(all.subList(from, from + 100), nodes.up());
    }
  }

  /** Nobody waits here until the others have noticed. */
  @Test
  void whatIsConfirmedAtTheMomentWhenItsNodeIsKilledRunsOnceOrIsSaidToHaveFailed()
      throws Exception {
    int dead = nodes.primary(1);
    List<Asked> all = approvals.askMany(dead, 100);

    nodes.kill(dead);
    List<List<CompletableFuture<Answer>>> answers = confirmedAtTwo(all, nodes.up());

    assertEachRunsOnceOrIsSaidToHaveFailed(all, answers);
  }

  @Test
  void whatIsConfirmedWhileAllNodesSleepIsAnsweredWhenTheyAreAwake() throws Exception {
    List<Asked> all = new ArrayList<>();
    ALL.forEach(node -> all.addAll(approvals.askMany(node, 70)));

    for (int node : ALL) {
      nodes.pause(node);
    }
    List<List<CompletableFuture<Answer>>> answers = confirmedAtTwo(all, ALL);
    TimeUnit.SECONDS.sleep(3); // they sleep on: what is tried is how long they were away
    for (int node : ALL) {
      nodes.goOn(node);
    }

    assertEachRunsOnceOrIsSaidToHaveFailed(all, answers);
  }

  private static void assertEachRunsOnceOrIsSaidToHaveFailed(
      List<Asked> all, List<List<CompletableFuture<Answer>>> answers) throws Exception {
    for (int i = 0; i < all.size(); i++) {
      List<String> two = outcomes(answers.get(i));
      long done = two.stream().filter("200"::equals).count();
      boolean isUnknown = two.contains("502 node_lost");
      assertTrue(done == 1 || done == 0 && (isUnknown || two.contains("503 no_quorum")), two + "");
      int times = effectLog.times(all.get(i).note());
      assertTrue(times == done || isUnknown && times == 1, times + " " + two);
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
  void whoConfirmsWhereNodesCannotAgreeIsToldSoAndASecondTryRunsItOrNothing() throws Exception {
    int left = owner();
    List<Integer> asleep = nodes.others(left);
    Asked asked = approvals.ask(left, 1);
    for (int node : asleep) {
      nodes.pause(node);
    }

    Answer refused = approvals.decide(left, asked, true);

    assertEquals("503 no_quorum no", told(refused));
    for (int node : asleep) {
      nodes.goOn(node);
    }
    nodes.awaitMembers();
    assertEquals(0, effectLog.times(asked.note()));
    Answer second = approvals.decide(asleep.get(0), asked, true);
    assertTrue(
        List.of("200", "404 confirmation_not_found").contains(outcome(second)), second.toString());
    assertGone(asked);
    assertEquals(second.status() == 200 ? 1 : 0, effectLog.times(asked.note()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatWasRunningWhenItsNodeWasKilledIsNeverRunAgain(boolean killsOwner) throws Exception {
    int owner = owner();
    int door = nodes.other(owner);
    Asked asked = approvals.ask(nodes.other(owner, door), LONG);
    CompletableFuture<Answer> running = approvals.confirm(List.of(door), asked).get(0);
    nodes.until(() -> effectLog.times(asked.note()) == 1);

    nodes.kill(killsOwner ? owner : door);

    String end = running.handle((answer, lost) -> lost == null ? told(answer) : "lost").get();
    assertEquals(killsOwner ? "502 node_lost unknown" : "lost", end);
    assertGone(asked);
    nodes.startMissing();
    nodes.assertAllAnswer(List.of(GUARDED));
    assertGone(asked);
    assertEquals(1, effectLog.times(asked.note()));
  }

  private static String told(Answer answer) {
    return outcome(answer) + " " + answer.body().path("executed").asText();
  }

  @Test
  void whatNobodyHasConfirmedBeforeAllWereKilledNeverRuns() throws Exception {
    List<Asked> all = new ArrayList<>();
    ALL.forEach(node -> all.addAll(approvals.askMany(node, 3)));

    for (int node : ALL) {
      nodes.kill(node);
    }
    nodes.startMissing();
    nodes.assertAllAnswer(List.of(GUARDED));

    for (Asked asked : all) {
      assertGone(asked);
      assertEquals(0, effectLog.times(asked.note()));
    }
  }

  @Test
  void whatIsConfirmedAtAnotherNodeTellsItsProgressThere() throws Exception {
    String arguments = "{\"steps\":3,\"note\":\"g steps\"}";
    for (int node : ALL) {
      Answer asked = nodes.call(node, GUARDED, "effect", arguments);
      String path = "/confirmations/" + asked.body().path("confirmation_id").asText();
      String yes = "{\"confirm\":true,\"token\":" + asked.body().path("token") + "}";

      Answer told = nodes.post(1 + node % 3, path, yes, "accept", "text/event-stream");

      assertEquals(List.of("progress", "progress", "progress", "result"), told.events());
    }
  }

  @Test
  void confirmationsOutliveARollingRestart() throws Exception {
    List<Asked> all = approvals.askMany(1, 30);

    for (int node : ALL) {
      nodes.stop(node);
      nodes.awaitMembers();
      nodes.startMissing();
    }

    assertEachRunsOnce(all, ALL);
  }

  @Test
  void anotherPrincipalApprovesAtAnotherNodeWhereAnOperatorDecides(@TempDir Path own)
      throws Exception {
    EffectLog marks = new EffectLog(own);
    try (Nodes guarded = operated(own, marks)) {
      Approvals pending = new Approvals(guarded, GUARDED);
      Asked asked = pending.ask(1, 1);
      assertTrue(asked.answer().body().path("token").isMissingNode());
      for (int node : ALL) {
        assertEquals(403, pending.decide(node, asked, true).status());
        Answer shown = guarded.get(node, asked.path(), "x-api-key", BOSS);
        assertEquals("caller", shown.body().path("caller").asText(), shown.toString());
      }
      assertEquals(0, marks.times(asked.note()));

      assertEquals("done", pending.decide(2, asked, true, "x-api-key", BOSS).said());

      assertEquals(404, pending.decide(3, asked, true, "x-api-key", BOSS).status());
      for (int node : ALL) {
        Answer fetched = guarded.get(node, asked.path(), "prefer", "wait=10");
        assertEquals("done", fetched.body().path("status").asText(), fetched.toString());
        assertEquals("done", fetched.body().at("/result/content/0/text").asText());
      }
      assertEquals(1, marks.times(asked.note()));
      guarded.end();
    }
  }

  @Test
  void anOperatorDecidesOnceOfWhatANodeThatWasKilledHasAsked(@TempDir Path own) throws Exception {
    EffectLog marks = new EffectLog(own);
    try (Nodes guarded = operated(own, marks)) {
      Approvals pending = new Approvals(guarded, GUARDED);
      List<Asked> all = pending.askMany(1, 50);

      guarded.kill(1);

      guarded.until(() -> guarded.areMembers(List.of(2, 3)));
      for (Asked asked : all) {
        assertEquals(
            List.of("200", "404 confirmation_not_found"),
            outcomes(pending.confirm(List.of(2, 3), asked, "x-api-key", BOSS)));
        assertEquals(1, marks.times(asked.note()));
      }
      guarded.end();
    }
  }

  private static Nodes operated(Path own, EffectLog marks) throws Exception {
    String config =
        "'auth':{'keys':[%s,%s]},'risk':{'approver':'operator'},'mcpServers':{%s}"
            .formatted(
                key("boss", BOSS, "'read','call','approve'"),
                key("caller", CALLER, "'read','call'"),
                marks.guarded(GUARDED));
    Nodes guarded = Nodes.withKey(own, 3, config, CALLER);
    guarded.awaitHome(List.of(GUARDED));
    return guarded;
  }

  private static String key(String name, String key, String scopes) {
    return "{'name':'%s','sha256':'%s','scopes':[%s]}"
        .formatted(name, ApiKeys.fingerprint(key), scopes);
  }
}
