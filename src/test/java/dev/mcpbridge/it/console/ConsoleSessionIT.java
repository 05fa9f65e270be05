package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Sessions in place of API keys, at a real bridge. */
class ConsoleSessionIT {
  private static final String READER = ApiKeys.generate();
  private static final String CALLER = ApiKeys.generate();
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();

  @AutoClose private final TestBridge bridge = TestBridge.of(config(READER));

  private static String config(String reader) {
    return "{%s,'mcpServers':{}}"
        .formatted(
            TestBridge.auth(
                TestBridge.key("reader", reader, "'read'"),
                TestBridge.key("caller", CALLER, "'read','call'")));
  }

  @AfterAll
  static void endThreads() {
    THREADS.shutdownNow();
  }

  private String session(String key) throws Exception {
    return bridge.post("/console/session", "", "authorization", "Bearer " + key).at("/token");
  }

  private Answer get(String path, String credential) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + credential);
  }

  @Test
  void sessionHasTheRightsOfItsKeyOnly() throws Exception {
    String session = session(READER);

    assertEquals("reader", get("/whoami", session).at("/principal"));
    assertEquals("[\"read\"]", get("/whoami", session).body().path("scopes").toString());
    assertEquals(403, get("/calls", session).status());
    assertEquals(
        403, bridge.post("/console/session", "", "authorization", "Bearer " + session).status());
  }

  @Test
  void sessionEndsWhenItIsClosedAndWithItsKey() throws Exception {
    String closed = session(READER);
    String kept = session(CALLER);
    String withdrawn = session(READER);

    assertEquals(
        204, bridge.delete("/console/session", "authorization", "Bearer " + closed).status());
    bridge.reload(config(ApiKeys.generate()));

    assertEquals(401, get("/whoami", closed).status());
    assertEquals(401, get("/whoami", withdrawn).status(), "its key was replaced");
    assertEquals(200, get("/whoami", kept).status());
    assertEquals(
        401, bridge.delete("/console/session", "authorization", "Bearer " + closed).status());
  }

  @Test
  void eventStreamEndsSoonAfterItsSession() throws Exception {
    String closed = session(READER);
    CompletableFuture<String> ended = events(closed);
    CompletableFuture<String> kept = events(session(READER));

    bridge.delete("/console/session", "authorization", "Bearer " + closed);

    assertTrue(ended.get(20, TimeUnit.SECONDS).startsWith(": open"));
    assertFalse(kept.isDone(), "the stream of the other session");
  }

  /** Opens the stream of events; completes at its end with all of it. */
  private CompletableFuture<String> events(String credential) throws Exception {
    HttpResponse<Stream<String>> open =
        bridge
            .client()
            .send(
                HttpRequest.newBuilder(bridge.uri("/events"))
                    .header("authorization", "Bearer " + credential)
                    .build(),
                HttpResponse.BodyHandlers.ofLines());
    assertEquals(200, open.statusCode());
    return CompletableFuture.supplyAsync(
        () -> open.body().collect(Collectors.joining("\n")), THREADS);
  }

  @Test
  void callerWithoutAKeyNeedsNoSession() throws Exception {
    try (TestBridge open = TestBridge.of("{'mcpServers':{}}")) {
      Answer answer = open.post("/console/session", "");
      assertTrue(answer.body().path("token").isNull(), answer.toString());
      assertEquals(404, open.delete("/console/session").status());
    }
    assertEquals(401, bridge.post("/console/session", "").status());
    assertEquals(
        401, bridge.post("/console/session", "", "authorization", "Bearer mcbs_unknown").status());
  }
}
