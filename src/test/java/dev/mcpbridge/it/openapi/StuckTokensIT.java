package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls whose access token is missing, late or invalid. */
@Tag("openapi")
@Tag("slow")
class StuckTokensIT {
  private static final EchoApi.Script TOKEN =
      EchoApi.json("{\"access_token\":\"t1\",\"expires_in\":3600}");

  private final CountDownLatch gate = new CountDownLatch(1);
  private EchoApi api;
  private EchoApi tokens;
  private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    tokens = EchoApi.start().on("/token", TOKEN);
    api =
        EchoApi.start()
            .on("/ok", 200, "text/plain", "granted")
            .on("/hangs", EchoApi.neverRespond());
    String document =
        ApiDocument.create()
            .with("get", "/ok", "ok", "")
            .with("get", "/hangs", "hangs", "")
            .set("servers", "[{'url':'" + api.url("") + "'}]")
            .text();
    String entry = "{'type':'openapi','document':" + document;
    String auth =
        ",'auth':{'type':'oauth2','clientId':'me','clientSecret':'secret','tokenUrl':'%s'}"
            .formatted(tokens.url("/token"));
    bridge =
        TestBridge.of(
                """
            {'mcpServers':{'s':%s%s,'maxInFlight':100,'timeout':50},
            'brief':%s%s,'timeout':2},'open':%s,'timeout':20,
            'tools':{'hangs':{'timeout':2}}}}}"""
                    .formatted(entry, auth, entry, auth, entry))
            .awaitReady("s", "brief", "open");
  }

  @AfterEach
  void stop() throws Exception {
    gate.countDown();
    bridge.close();
    tokens.close();
    api.close();
  }

  /** Responds when the gate is opened. */
  private EchoApi.Script afterGateOpens() {
    return (request, peer) -> {
      try {
        return gate.await(60, TimeUnit.SECONDS) && TOKEN.answer(request, peer);
      } catch (InterruptedException e) {
        return false;
      }
    };
  }

  /** Starts a response and never ends it. */
  private static EchoApi.Script startsOnly() {
    return (request, peer) -> {
      EchoApi.truncateResponse().answer(request, peer);
      return EchoApi.neverRespond().answer(request, peer);
    };
  }

  private List<CompletableFuture<Answer>> calls(int count) {
    return IntStream.range(0, count).mapToObj(i -> bridge.callLater("ok", "{}")).toList();
  }

  private int pending(String server) throws Exception {
    return bridge.get("/servers/" + server).body().path("pending_calls").asInt();
  }

  private void assertWorksAgain() throws Exception {
    tokens.on("/token", TOKEN);
    assertEquals("granted", bridge.call("ok", "{}").firstText());
    assertEquals("Bearer t1", api.lastRequest().header("authorization"));
  }

  private static void assertNoToken(Answer answer, String reason) {
    assertEquals(502, answer.status(), answer.text());
    assertEquals("no", answer.at("/executed"), answer.text());
    String detail = answer.at("/detail");
    assertTrue(detail.contains("No token for the API: ") && detail.contains(reason), detail);
    assertFalse(answer.text().contains("secret"), answer.text());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callsShareOneTokenRequestAndItsTimeout(boolean isSilent) throws Exception {
    tokens.on("/token", isSilent ? EchoApi.neverRespond() : startsOnly());

    List<CompletableFuture<Answer>> calls = calls(5);

    for (CompletableFuture<Answer> call : calls) {
      assertNoToken(
          call.get(30, TimeUnit.SECONDS), tokens.url("") + " did not respond within 10 seconds");
    }
    assertEquals(1, tokens.requests().size());
    bridge.until(() -> tokens.disconnects() == 1);
    assertEquals(0, api.requests().size());
    assertWorksAgain();
  }

  @Test
  void concurrentCallsShareOneToken() throws Exception {
    tokens.on("/token", afterGateOpens());

    List<CompletableFuture<Answer>> calls = calls(20);
    bridge.until(() -> pending("s") == 20);
    assertEquals(0, api.requests().size());
    gate.countDown();

    for (CompletableFuture<Answer> call : calls) {
      assertEquals("granted", call.get(20, TimeUnit.SECONDS).firstText());
    }
    assertEquals(1, tokens.requests().size());
    assertEquals(20, api.requests("/ok").size());
  }

  @Test
  void timedOutCallIsNotSentWhenItsTokenArrives() throws Exception {
    tokens.on("/token", afterGateOpens());

    Answer answer = bridge.post("/servers/brief/tools/ok", "{}");
    assertEquals(504, answer.status(), answer.text());
    assertEquals(0, api.requests().size());
    gate.countDown();
    Answer next = bridge.post("/servers/brief/tools/ok", "{}");

    assertEquals("granted", next.firstText(), next.text());
    assertEquals(1, tokens.requests().size());
    assertEquals(1, api.requests().size());
  }

  @Test
  void callsWithAShortTimeoutRecover() throws Exception {
    tokens.on("/token", EchoApi.neverRespond());
    assertEquals(504, bridge.post("/servers/brief/tools/ok", "{}").status());
    tokens.on("/token", TOKEN);

    bridge.until(() -> bridge.post("/servers/brief/tools/ok", "{}").status() == 200);

    assertEquals(2, tokens.requests().size());
    assertEquals(1, api.requests().size());
  }

  @Test
  void callOfADisconnectedClientIsNotSent() throws Exception {
    tokens.on("/token", afterGateOpens());
    try (Socket socket = new Socket("127.0.0.1", bridge.port())) {
      socket
          .getOutputStream()
          .write(
              ("POST /servers/s/tools/ok HTTP/1.1\r\nHost: localhost\r\n"
                      + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                  .getBytes(StandardCharsets.UTF_8));
      bridge.until(() -> tokens.requests().size() == 1);
    }
    bridge.until(() -> pending("s") == 0);
    gate.countDown();

    assertEquals("granted", bridge.call("ok", "{}").firstText());
    assertEquals(1, tokens.requests().size());
    assertEquals(1, api.requests().size());
  }

  @Test
  void callOfARemovedServerIsNotSent() throws Exception {
    tokens.on("/token", afterGateOpens());
    CompletableFuture<Answer> call = bridge.callLater("ok", "{}");
    bridge.until(() -> tokens.requests().size() == 1);

    bridge.reload("{'drain':0.1}");
    gate.countDown();

    assertTrue(call.get(20, TimeUnit.SECONDS).status() >= 500);
    assertEquals(0, api.requests().size());
  }

  /** Responses of a token server that have no usable token. */
  enum InvalidResponse {
    NOT_HTTP(
        (request, peer) -> {
          peer.out().write("SSH-2.0-OpenSSH_9.6\r\n".getBytes(StandardCharsets.UTF_8));
          peer.out().flush();
          return false;
        }),
    NOTHING((request, peer) -> false),
    NOT_JSON(EchoApi.json("{\"access_token\":\"t")),
    LIST(EchoApi.json("[\"t1\"]")),
    NUMBERS(EchoApi.json("{\"access_token\":{}}")),
    BYTES(EchoApi.respondWith(200, "application/json", new byte[] {(byte) 0xFF, 0, 1})),
    EMPTY(EchoApi.respondWith(204, null, "")),
    ERROR(EchoApi.respondWith(500, "application/json", "{\"access_token\":\"t0\"}")),
    BUSY(EchoApi.respondWith(503, "text/plain", "later", "retry-after", "1")),
    REDIRECT(EchoApi.respondWith(307, null, "", "location", "/other"));

    private final EchoApi.Script script;

    InvalidResponse(EchoApi.Script script) {
      this.script = script;
    }
  }

  @ParameterizedTest
  @EnumSource(InvalidResponse.class)
  void invalidTokenResponseIsRetriedByTheNextCall(InvalidResponse response) throws Exception {
    tokens.on("/token", response.script);

    Answer answer = bridge.call("ok", "{}");

    assertNoToken(answer, "");
    assertEquals(0, api.requests().size());
    assertEquals(1, tokens.requests().size());
    assertWorksAgain();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "-99999999999", "-1e300"})
  void expiredTokenIsUsedForOneCall(String seconds) throws Exception {
    tokens.on(
        "/token",
        200,
        "application/json",
        "{\"access_token\":\"t0\",\"expires_in\":" + seconds + "}");

    assertEquals("granted", bridge.call("ok", "{}").firstText());
    assertEquals("Bearer t0", api.lastRequest().header("authorization"));
    assertWorksAgain();
  }

  @ParameterizedTest
  @EnumSource(ModelFormat.class)
  void stuckCallDoesNotAffectOtherCallsOfATurn(ModelFormat format) throws Exception {
    tokens.on("/token", EchoApi.neverRespond());

    JsonNode turn =
        turn(format, "open__ok", "brief__ok", "open__hangs", "open__ok", "absent__tool");

    assertEquals(
        List.of("completed", "failed", "failed", "completed", "failed"),
        turn.path("tool_responses").findValuesAsText("outcome"));
    List<ModelFormat.ToolAnswer> answers = format.toolAnswers(turn.path("messages"));
    assertEquals(
        List.of("granted", "granted"), List.of(answers.get(0).text(), answers.get(3).text()));
    for (int stuck : List.of(1, 2)) {
      JsonNode problem = turn.path("tool_responses").path(stuck).path("problem");
      assertEquals("deadline_exceeded", problem.path("code").asText(), turn.toString());
      assertTrue(
          answers.get(stuck).text().contains(" timed out after "), answers.get(stuck).text());
    }
    assertEquals(3, api.requests().size());
  }

  @Test
  void turnWaitsForATokenNoLongerThanACall() throws Exception {
    tokens.on("/token", EchoApi.neverRespond());

    JsonNode turn = turn(ModelFormat.OPENAI_CHAT, "s__ok", "open__ok", "s__ok");

    List<ModelFormat.ToolAnswer> answers =
        ModelFormat.OPENAI_CHAT.toolAnswers(turn.path("messages"));
    assertEquals("granted", answers.get(1).text());
    for (int stuck : List.of(0, 2)) {
      assertTrue(
          answers.get(stuck).text().contains("within 10 seconds"), answers.get(stuck).text());
    }
    assertEquals(1, tokens.requests().size());
    assertEquals(1, api.requests().size());
  }

  private JsonNode turn(ModelFormat format, String... functions) throws Exception {
    List<ModelFormat.Call> calls = new ArrayList<>();
    for (String function : functions) {
      calls.add(ModelFormat.call("c-" + calls.size(), function, "{}"));
    }
    Answer answer = bridge.post("/toolcall", format.turn(calls.toArray(ModelFormat.Call[]::new)));
    assertEquals(200, answer.status(), answer.text());
    return answer.body();
  }
}
