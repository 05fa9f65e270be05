package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.HeldAnswer;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Grants in a cluster: given at one node, used at all, refreshed by one, kept without any. */
@Tag("cluster")
@Tag("slow")
class ClusterConsentIT {
  private static final List<Integer> ALL = List.of(1, 2, 3);

  @TempDir static Path folder;
  @AutoClose private static ProtectedServer notes;

  @AutoClose("stopAll")
  private static Nodes nodes;

  private long earlierRefreshes;
  private long earlierConsents;

  @BeforeAll
  static void start() throws Exception {
    notes = new ProtectedServer();
    nodes = Nodes.with(folder, 3, "'mcpServers':{'notes':" + notes.entry("") + "}");
    for (int node : ALL) {
      nodes.until(() -> nodes.get(node, "/servers/notes").at("/state").equals("needs_consent"));
    }
  }

  @BeforeEach
  void noNodeHasAGrant() throws Exception {
    nodes.startMissing();
    nodes.delete(1, "/servers/notes/credentials");
    for (int node : ALL) {
      nodes.until(() -> !call(node).at("/connect_url").isEmpty());
    }
    earlierRefreshes = refreshes();
    earlierConsents = consents();
  }

  private Answer call(int node) throws Exception {
    return nodes.call(node, "notes", "me", "{}");
  }

  /** Agrees at the page of the link, which is opened at another node. */
  private void connect(int askedAt, int openedAt) throws Exception {
    String link = call(askedAt).at("/connect_url");
    String path = URI.create(link).getPath();
    HttpResponse<String> page =
        new ConsentBrowser().connect(nodes.uri(openedAt, path).toString(), Map.of());
    assertTrue(page.body().contains("Connected"), page.body());
  }

  private int owner() throws Exception {
    String name = nodes.get(1, "/servers/notes").at("/node");
    return Integer.parseInt(name.replaceAll("\\D", ""));
  }

  private long refreshes() {
    long all =
        notes.tokenRequests().stream().filter(body -> body.contains("=refresh_token")).count();
    return all - earlierRefreshes;
  }

  private long consents() {
    return notes.count("/authorize") - earlierConsents;
  }

  @Test
  void consentAtOneNodeCountsAtAll() throws Exception {
    connect(1, 2);

    for (int node : ALL) {
      assertEquals("alice", call(node).firstText());
    }
  }

  @Test
  void callsAtAllNodesAtExpiryCauseOneRefresh() throws Exception {
    connect(1, 1);
    assertEquals("alice", call(1).firstText());
    notes.revokeAccess();

    List<CompletableFuture<Answer>> calls = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      calls.add(nodes.callLater(i % 3 + 1, "notes", "me", "{}"));
    }
    for (CompletableFuture<Answer> each : calls) {
      Answer answer = each.get(30, TimeUnit.SECONDS);
      assertEquals("alice", answer.firstText(), answer.toString());
    }

    assertEquals(1, refreshes());
  }

  @Test
  void grantSurvivesItsNodeAndIsRefreshedByTheNext() throws Exception {
    connect(1, 1);
    int owner = owner();
    nodes.kill(owner);
    int other = nodes.anyOther(owner);
    notes.revokeAccess();

    nodes.until(() -> call(other).status() == 200);

    assertEquals("alice", call(other).firstText());
    assertEquals(1, consents());
    assertEquals(1, refreshes());
  }

  @Test
  void refreshOfANodeThatDiedInTheMiddleIsDoneByTheNext() throws Exception {
    connect(1, 1);
    assertEquals("alice", call(1).firstText());
    notes.revokeAccess();
    HeldAnswer never = new HeldAnswer();
    notes.answer("/token", never);
    int owner = owner();
    int other = nodes.anyOther(owner);
    nodes.callLater(owner, "notes", "me", "{}");
    never.awaitRequest();

    nodes.kill(owner);
    notes.heal();

    nodes.until(() -> call(other).status() == 200);
    never.release();
    assertEquals(1, consents());
    assertEquals(1, refreshes());
  }

  @Test
  void waitingClientAtAnotherNodeGoesOnAfterTheConsent() throws Exception {
    String url = "{\"elicitation\":{\"url\":{}}}";
    connect(1, 1);
    nodes.delete(1, "/servers/notes/credentials");
    McpClient client = new McpClient(nodes.uri(2, "/servers/notes/mcp"), url);
    McpClient other = new McpClient(nodes.uri(3, "/servers/notes/mcp"), url);
    String members = "\"name\":\"me\",\"arguments\":{}";
    var asked = client.stateless("tools/call", members).result();
    String link = asked.at("/inputRequests/consent/params/url").asText();
    String repeated =
        "\"inputResponses\":{\"consent\":{\"action\":\"accept\"}},\"requestState\":\""
            + asked.path("requestState").asText()
            + "\","
            + members;

    CompletableFuture<McpClient.Reply> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return other.stateless("tools/call", repeated);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    String path = URI.create(link).getPath();
    new ConsentBrowser().connect(nodes.uri(1, path).toString(), Map.of());

    assertEquals("alice", waiting.get(30, TimeUnit.SECONDS).firstText());
  }
}
