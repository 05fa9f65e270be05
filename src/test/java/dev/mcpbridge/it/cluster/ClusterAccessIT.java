package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Access rules and quotas in a cluster: the same decisions at every node, counts that add up. */
@Tag("cluster")
@Tag("slow")
class ClusterAccessIT {
  private static final String ALICE = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final List<Integer> ALL = List.of(1, 2, 3);

  @TempDir static Path folder;

  @AutoClose("stopAll")
  private static Nodes nodes;

  @BeforeAll
  static void start() throws Exception {
    nodes = Nodes.withKey(folder, 3, config(), BOSS);
    nodes.awaitMembers();
    for (int node : ALL) {
      nodes.until(() -> get(node, BOSS, "/servers/s").at("/state").equals("ready"));
    }
  }

  private static String config() {
    return TestBridge.auth(
            TestBridge.key("alice", ALICE, "'read','call'", "'dev'"),
            TestBridge.key("bob", BOB, "'read','call'", "'guest'"),
            TestBridge.key("boss", BOSS, "'read','call','approve','admin'", "'dev'"))
        + ",'access':{'rules':["
        + "{'name':'devs','allow':['call'],'who':{'roles':['dev']}},"
        + "{'name':'guests','allow':['call'],'who':{'roles':['guest']},'tools':['echo'],"
        + "'risk':2}]},'quotas':["
        + "{'name':'server','per':'server','tools':['answers'],'rate':10,'window':86400},"
        + "{'name':'caller','per':'caller','tools':['cancels'],'quota':9},"
        + "{'name':'at-once','per':'tool','tools':['sleep'],'concurrent':2}],"
        + "'mcpServers':{'s':"
        + TestBridge.entry("")
        + "}";
  }

  private static Answer get(int node, String key, String path) throws Exception {
    return nodes.get(node, path, "authorization", "Bearer " + key);
  }

  private static Answer call(int node, String key, String tool, String arguments) throws Exception {
    return nodes.call(node, "s", tool, arguments, "authorization", "Bearer " + key);
  }

  @Test
  void everyNodeDecidesTheSame() throws Exception {
    for (int node : ALL) {
      assertEquals(200, call(node, ALICE, "echo", "{}").status());
      assertEquals(403, call(node, BOB, "exit", "{}").status());
      assertEquals(1, get(node, BOB, "/servers/s/tools").body().path("tools").size());
      Answer held = call(node, BOB, "echo", "{}");
      assertEquals("true", held.at("/requires_confirmation"), held.toString());
      int other = node % 3 + 1;
      Answer approved =
          nodes.post(
              other,
              "/confirmations/" + held.at("/confirmation_id"),
              "{\"confirm\":true}",
              "authorization",
              "Bearer " + BOSS);
      assertEquals(200, approved.status(), approved.toString());
    }
  }

  @Test
  void limitOfAServerIsExactOverAllNodes() throws Exception {
    int passed = 0;
    for (int i = 0; i < 10; i++) {
      for (int node : ALL) {
        Answer answer = call(node, ALICE, "answers", "{}");
        assertTrue(answer.status() == 200 || answer.status() == 429, answer.toString());
        passed += answer.status() == 200 ? 1 : 0;
      }
    }

    assertEquals(10, passed);
    assertEquals("server", call(2, BOSS, "answers", "{}").at("/limit"));
  }

  @Test
  void quotaOfACallerIsSharedOutByTheNodes() throws Exception {
    for (int node : ALL) {
      int passed = 0;
      for (int i = 0; i < 10; i++) {
        passed += call(node, ALICE, "cancels", "{}").status() == 200 ? 1 : 0;
      }
      assertEquals(3, passed);
    }
  }

  @Test
  void runningCallsOfAToolAreCountedOverAllNodes() throws Exception {
    List<CompletableFuture<Answer>> running = new ArrayList<>();
    for (int node : ALL) {
      running.add(
          nodes.callLater(node, "s", "sleep", "{\"ms\":3000}", "authorization", "Bearer " + ALICE));
    }
    int refused = 0;
    for (CompletableFuture<Answer> answer : running) {
      refused += answer.get(30, TimeUnit.SECONDS).status() == 429 ? 1 : 0;
    }

    assertEquals(1, refused);
  }
}
