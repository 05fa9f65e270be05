package dev.mcpbridge.it.toolcall;

import static dev.mcpbridge.fixture.ModelFormat.ANTHROPIC;
import static dev.mcpbridge.fixture.ModelFormat.OPENAI_CHAT;
import static dev.mcpbridge.fixture.ModelFormat.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A model's turn of tool calls over REST, valid and invalid. */
@Tag("toolcall")
class ToolCallIT {
  @TempDir static Path folder;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    String env = "'env':{'EFFECTS':'" + folder.resolve("effects") + "'},'timeout':20";
    bridge =
        TestBridge.of(
                "{'mcpServers':{'s':"
                    + TestBridge.entry(env)
                    + ",'gated':"
                    + TestBridge.entry(env + ",'risk':{'tools':{'effect':2,'sleep':2}}")
                    + "}}")
            .awaitReady("s", "gated");
  }

  @BeforeEach
  void deleteEffects() throws Exception {
    Files.deleteIfExists(folder.resolve("effects"));
  }

  @AfterEach
  void alive() throws Exception {
    bridge.assertAlive();
  }

  @Test
  void functionsAreFilteredByServersAndTools() throws Exception {
    assertEquals(List.of("gated__effect"), names("?servers=gated&tools=effect"));
    assertEquals(List.of("s__echo", "s__effect"), names("?servers=s&tools=echo,s__effect"));
    assertEquals(
        List.of("gated__ask", "gated__ask_and_stay", "gated__ask_twice"),
        names("?servers=gated&tools=ask*"));
    assertEquals(2, names("?servers=s,%20gated&tools=echo").size());
    assertEquals(List.of(), names("?tools=none_has_this_name"));
    assertEquals(names("?servers=s").size() * 2, names("").size());
  }

  @ParameterizedTest
  @CsvSource({
    "servers=nope,404,server_not_found",
    "servers=s%2Cnope,404,server_not_found",
    "format=yaml,400,malformed_request",
    "format=,400,malformed_request",
    "format=gemini&format=anthropic,400,malformed_request",
    "strict=yes,400,malformed_request"
  })
  void anInvalidQueryIsRejected(String query, int status, String code) throws Exception {
    Answer answer = bridge.get("/toolcall/tools?" + query);

    assertEquals(status, answer.status(), answer.text());
    assertEquals(code, answer.code());
  }

  @Test
  void anUnknownFormatOfATurnIsRejected() throws Exception {
    Answer answer = bridge.post("/toolcall?format=yaml", "[]");

    assertEquals(400, answer.status());
    assertTrue(answer.text().contains("openai-responses"), answer.text());
  }

  @Test
  void anUnchangedListIsNotSentAgain() throws Exception {
    Answer first = bridge.get("/toolcall/tools?format=anthropic");
    String tag = first.header("etag");

    assertNotNull(tag);
    Answer second = bridge.get("/toolcall/tools?format=anthropic", "if-none-match", tag);
    assertEquals(304, second.status());
    assertEquals("", second.text());
    assertEquals(tag, second.header("etag"));
    assertEquals(200, bridge.get("/toolcall/tools?format=gemini", "if-none-match", tag).status());
    try (TestBridge own = TestBridge.scripted("")) {
      String old = own.get("/toolcall/tools").header("etag");
      own.call("grow", "{}");
      own.until(() -> own.get("/toolcall/tools", "if-none-match", old).status() == 200);
      assertTrue(own.get("/toolcall/tools").text().contains("s__grown_0"));
    }
  }

  @Test
  void callsOfATurnRunConcurrentlyAndAreAnsweredInOrder() throws Exception {
    ModelFormat.Call[] calls =
        IntStream.range(0, 8)
            .mapToObj(i -> call("c-" + i, "s__meet", "{\"own\":" + i + ",\"calls\":8}"))
            .toArray(ModelFormat.Call[]::new);

    JsonNode responses = run(OPENAI_CHAT.turn(calls)).path("tool_responses");

    for (int i = 0; i < 8; i++) {
      assertEquals("c-" + i, responses.at("/" + i + "/tool_call_id").asText());
      assertEquals("number " + i, responses.at("/" + i + "/output/result").asText());
    }
  }

  @Test
  void aTurnThatStopsAtAnErrorSkipsTheRest() throws Exception {
    String turn =
        OPENAI_CHAT.turn(
            call("c-0", "s__effect", "{}"),
            call("c-1", "s__no_such_tool", "{}"),
            call("c-2", "s__effect", "{}"));

    Answer answer = bridge.post("/toolcall?onError=stop", turn);

    assertEquals("200", answer.at("/tool_responses/0/status"), answer.text());
    assertEquals("404", answer.at("/tool_responses/1/status"), answer.text());
    assertEquals("skipped", answer.at("/tool_responses/2/problem/code"), answer.text());
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
    for (String terms : List.of("onError=retry", "concurrency=0", "concurrency=x")) {
      assertEquals(422, bridge.post("/toolcall?" + terms, turn).status(), terms);
    }
  }

  @Test
  void anUnqualifiedNameIsResolvedIfItIsUnique() throws Exception {
    String sum =
        """
        [{"name": "calculate_sum", "inputSchema": {"type": "object"}}]
        """;
    try (TestBridge own =
        TestBridge.of(
            "{'mcpServers':{'math':%s,'one':%s,'two':%s}}"
                .formatted(
                    CatalogueServer.entry(folder.resolve("math"), sum, ""),
                    TestBridge.entry(""),
                    TestBridge.entry("")))) {
      own.until(() -> own.get("/health/ready").status() == 200);
      JsonNode responses =
          own.post(
                  "/toolcall",
                  """
                  [{"id": "a", "type": "function", "function": {"name": "calculate_sum",
                     "arguments": "{\\"n\\":[1,2]}"}},
                   {"id": "b", "type": "function", "function": {"name": "echo",
                     "arguments": "{}"}},
                   {"id": "c", "type": "function", "function": {"name": "one__echo",
                     "arguments": "{}"}}]
                  """)
              .body()
              .path("tool_responses");

      assertEquals("completed", responses.at("/0/outcome").asText(), responses.toString());
      assertEquals("math", responses.at("/0/server_id").asText());
      assertEquals("calculate_sum", responses.at("/0/name").asText());
      assertEquals(404, responses.at("/1/status").asInt());
      assertEquals("tool_not_found", responses.at("/1/problem/code").asText());
      assertEquals(
          "[\"one__echo\",\"two__echo\"]",
          responses.at("/1/problem/candidates").toString(),
          responses.toString());
      assertTrue(responses.at("/1/output/error").asText().contains("one__echo, two__echo"));
      assertEquals("completed", responses.at("/2/outcome").asText(), responses.toString());
    }
  }

  @Test
  void aToolErrorIsNotAFailure() throws Exception {
    JsonNode response = runOne("s__tool_error", "{}");

    assertEquals(200, response.path("status").asInt());
    assertEquals("tool_error", response.path("outcome").asText());
    assertEquals("no", response.at("/output/error").asText());
    assertFalse(response.has("problem"));
  }

  @Test
  void anUpstreamErrorIsAFailure() throws Exception {
    JsonNode response = runOne("s__fail", "{}");

    assertEquals(502, response.path("status").asInt());
    assertEquals("failed", response.path("outcome").asText());
    assertEquals("upstream_error", response.at("/problem/code").asText());
    assertTrue(response.at("/output/error").asText().contains("it broke"), response.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"s__nope", "nope__echo", "echo", "", "s__\\u0000echo", "s__echo ", "S__ECHO"})
  void anUnknownFunctionFailsAlone(String name) throws Exception {
    JsonNode body =
        run(
            "{\"tool_calls\":[%s,%s]}"
                .formatted(chat("c-1", name, "{}"), chat("c-2", "s__echo", "{}")));

    assertEquals("tool_not_found", body.at("/tool_responses/0/problem/code").asText());
    assertEquals(404, body.at("/tool_responses/0/status").asInt());
    assertEquals("no", body.at("/tool_responses/0/problem/executed").asText());
    assertEquals(200, body.at("/tool_responses/1/status").asInt());
    assertEquals("c-1", body.at("/messages/0/tool_call_id").asText());
  }

  @ParameterizedTest
  @ValueSource(ints = {65, 101, 100_000})
  void anOverlongNameIsUnknownAndShortenedInTheError(int length) throws Exception {
    JsonNode body = run(OPENAI_CHAT.turn(call("c-1", "s__" + "x".repeat(length - 3), "{}")));

    assertEquals("tool_not_found", body.at("/tool_responses/0/problem/code").asText());
    assertTrue(body.at("/messages/0/content").asText().length() < 300, body.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{\"a\":}",
        "{\"a\":1}x",
        "nothing",
        "{'a':1}",
        "{\"a\":1,\"a\":2}",
        "\\u0000"
      })
  void argumentsThatAreNotJsonFailAloneWithAMessage(String arguments) throws Exception {
    JsonNode body =
        run(
            OPENAI_CHAT.turn(
                call("c-1", "s__effect", arguments), call("c-2", "s__echo", "{\"a\":1}")));

    JsonNode response = body.at("/tool_responses/0");
    assertEquals(400, response.path("status").asInt(), body.toString());
    assertEquals("malformed_request", response.at("/problem/code").asText());
    String content = body.at("/messages/0/content").asText();
    assertTrue(content.contains("The arguments text is not"), content);
    assertTrue(content.endsWith("Nothing was executed."), content);
    assertEquals("{\"a\":1}", body.at("/messages/1/content").asText());
    assertFalse(Files.exists(folder.resolve("effects")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "[{\"a\":1}]", "1", "\"a\"", "null", "true"})
  void argumentsThatAreNotAnObjectFailAlone(String arguments) throws Exception {
    JsonNode responses =
        run(OPENAI_CHAT.turn(call("c-1", "s__effect", arguments), call("c-2", "s__echo", "{}")))
            .path("tool_responses");

    assertEquals(400, responses.at("/0/status").asInt(), responses.toString());
    assertTrue(
        responses.at("/0/output/error").asText().contains("must be a JSON object"),
        responses.toString());
    assertEquals(200, responses.at("/1/status").asInt());
    assertFalse(Files.exists(folder.resolve("effects")));
  }

  @Test
  void missingArgumentsAreAnEmptyObject() throws Exception {
    for (String arguments : List.of("", " ", "{}")) {
      assertEquals("{}", runOne("s__echo", arguments).path("structured_content").toString());
    }
    assertEquals(
        "{}",
        run("[{\"id\":\"c\",\"function\":{\"name\":\"s__echo\"}}]")
            .at("/tool_responses/0/structured_content")
            .toString());
  }

  @Test
  void schemaViolationsNameTheProperty() throws Exception {
    JsonNode body = run(OPENAI_CHAT.turn(call("c-1", "s__sleep", "{\"ms\":\"soon\"}")));

    JsonNode response = body.at("/tool_responses/0");
    assertEquals(422, response.path("status").asInt());
    assertEquals("invalid_arguments", response.at("/problem/code").asText());
    assertEquals("no", response.at("/problem/executed").asText());
    assertTrue(response.at("/problem/errors/0").asText().contains("ms"), body.toString());
    assertTrue(body.at("/messages/0/content").asText().contains("\n- "), body.toString());
  }

  @Test
  void nullsOfStrictModelsForOmittedPropertiesAreRemoved() throws Exception {
    assertEquals(
        "it broke",
        runOne("s__fail", "{\"s\":null}")
            .at("/output/error")
            .asText()
            .replaceAll("(?s).*(it broke).*", "$1"));
    assertEquals("slept", runOne("s__sleep", "{\"ms\":\"1\"}").at("/output/result").asText());
    assertEquals(
        "invalid_arguments", runOne("s__sleep", "{\"ms\":null}").at("/problem/code").asText());
  }

  @Test
  void numbersKeepTheirDigits() throws Exception {
    String exact = "{\"big\":9007199254740993,\"d\":1.10,\"e\":1e2,\"z\":-0}";

    Answer answer = bridge.post("/toolcall", OPENAI_CHAT.turn(call("c-1", "s__echo", exact)));

    assertTrue(answer.text().contains("\"structured_content\":" + exact), answer.text());
  }

  @Test
  void numbersKeepTheirDigitsBesideACorrectedArgument() throws Exception {
    String rest = "\"big\":9007199254740993,\"d\":0.12345678901234567890123}";

    JsonNode response = runOne("gated__sleep", "{\"ms\":\"1\"," + rest);

    String arguments = response.at("/confirmation/arguments").toString();
    assertTrue(arguments.startsWith("{\"ms\":1,\"big\":9007199254740993,"), arguments);
    Answer whole =
        bridge.post(
            "/toolcall", OPENAI_CHAT.turn(call("c", "gated__sleep", "{\"ms\":\"1\"," + rest)));
    assertTrue(whole.text().contains("\"arguments\":{\"ms\":1," + rest), whole.text());
  }

  @Test
  void argumentsAreLimitedToTheConfiguredBodySize() throws Exception {
    String arguments = "{\"s\":\"" + "\\\"".repeat(5 << 19) + "\"}";
    String turn = OPENAI_CHAT.turn(call("c-1", "s__echo", arguments));
    String inner = ANTHROPIC.turn(call("c-1", "s__echo", arguments));

    Answer refused = bridge.post("/toolcall", turn);
    assertEquals(413, refused.status());
    assertEquals("too_large", refused.code());
    try (TestBridge own =
        TestBridge.of(
            "{'limits':{'bodyBytes':33554432},'mcpServers':{'s':" + TestBridge.entry("") + "}}")) {
      for (String large : List.of(turn, inner)) {
        JsonNode response = own.post("/toolcall", large).body().at("/tool_responses/0");
        assertEquals(200, response.path("status").asInt(), response.path("problem").toString());
        assertEquals(5 << 19, response.at("/structured_content/s").asText().length());
      }
      own.assertAlive();
    }
  }

  @Test
  void aGatedCallRequiresConfirmationAndHidesTheToken() throws Exception {
    JsonNode body =
        run(
            OPENAI_CHAT.turn(
                call("c-1", "gated__effect", "{\"ms\":1,\"n\":1.10}"),
                call("c-2", "s__echo", "{}")));

    JsonNode response = body.at("/tool_responses/0");
    assertEquals(202, response.path("status").asInt(), body.toString());
    assertEquals("confirmation_required", response.path("outcome").asText());
    JsonNode confirmation = response.path("confirmation");
    String id = confirmation.path("confirmation_id").asText();
    String token = confirmation.path("token").asText();
    assertTrue(id.length() > 8 && token.length() > 8, body.toString());
    assertTrue(confirmation.path("arguments").toString().startsWith("{\"ms\":1"));
    String messages = body.path("messages").toString();
    assertTrue(messages.contains("confirmation_required") && messages.contains(id), messages);
    assertFalse(messages.contains(token), messages);
    assertFalse(response.path("output").toString().contains(token));
    assertEquals(200, body.at("/tool_responses/1/status").asInt());
    assertFalse(Files.exists(folder.resolve("effects")));

    String yes = "{\"confirm\":true,\"token\":\"" + token + "\"}";
    assertEquals(403, bridge.post("/confirmations/" + id, "{\"confirm\":true}").status());
    assertEquals("done", bridge.post("/confirmations/" + id, yes).firstText());
    assertEquals(404, bridge.post("/confirmations/" + id, yes).status());
    assertEquals(1, effects());
  }

  @ParameterizedTest
  @ValueSource(strings = {"OPENAI_RESPONSES", "ANTHROPIC", "GEMINI"})
  void theTokenIsHiddenFromTheModelInEveryFormat(ModelFormat format) throws Exception {
    JsonNode body = run(format.turn(call("c-1", "gated__effect", "{\"ms\":1}")));

    String token = body.at("/tool_responses/0/confirmation/token").asText();
    assertTrue(token.length() > 8, body.toString());
    assertFalse(body.path("messages").toString().contains(token), body.toString());
    assertFalse(format.toolAnswers(body.path("messages")).get(0).isError());
  }

  @Test
  void callsOfACrashedServerHaveAnUnknownOutcome() throws Exception {
    try (TestBridge own =
        TestBridge.of(
            "{'mcpServers':{'s':%s,'other':%s}}"
                .formatted(TestBridge.entry(""), TestBridge.entry("")))) {
      own.callLater("never", "{}"); // compiles its schema, so that the next call precedes the exit
      own.until(() -> own.get("/servers/s").body().path("pending_calls").asInt() == 1);
      JsonNode body =
          own.post(
                  "/toolcall",
                  OPENAI_CHAT.turn(
                      call("c-1", "s__never", "{}"),
                      call("c-2", "s__exit", "{\"code\":3}"),
                      call("c-3", "other__echo", "{\"a\":1}")))
              .body();

      for (int i = 0; i < 2; i++) {
        JsonNode problem = body.at("/tool_responses/" + i + "/problem");
        assertEquals("upstream_crashed", problem.path("code").asText(), body.toString());
        assertEquals("unknown", problem.path("executed").asText());
        assertFalse(problem.path("retryable").asBoolean());
        assertTrue(body.at("/messages/" + i + "/content").asText().contains("do not repeat it"));
      }
      assertEquals("{\"a\":1}", body.at("/messages/2/content").asText());
      own.awaitReady("s");
      own.assertAlive();
    }
  }

  @Test
  void ofCallsWithTheSameIdOnlyTheFirstRuns() throws Exception {
    JsonNode body =
        run(
            OPENAI_CHAT.turn(
                call("same", "s__effect", "{}"),
                call("same", "s__effect", "{}"),
                call("other", "s__effect", "{}")));

    JsonNode responses = body.path("tool_responses");
    assertEquals(200, responses.at("/0/status").asInt(), body.toString());
    assertEquals(422, responses.at("/1/status").asInt());
    assertEquals("no", responses.at("/1/problem/executed").asText());
    assertEquals(200, responses.at("/2/status").asInt());
    assertEquals(3, body.path("messages").size());
    assertEquals(2, effects());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"role\":\"assistant\",\"tool_calls\":null}",
        "{\"tool_calls\":{}}",
        "{\"tool_calls\":\"[]\"}",
        "{\"role\":\"assistant\",\"content\":null}",
        "{}",
        "[1]",
        "[[]]",
        "[{\"role\":\"user\",\"content\":\"hi\"}]",
        "1",
        "null",
        "\"text\""
      })
  void anInvalidTurnIsRejected(String turn) throws Exception {
    Answer answer = bridge.post("/toolcall", turn);

    assertEquals(422, answer.status(), answer.text());
    assertEquals("invalid_arguments", answer.code());
    assertEquals("no", answer.at("/executed"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[}", "{\"tool_calls\":[],}", "{\"tool_calls\":[]} x"})
  void aBodyThatIsNotJsonIsRejected(String turn) throws Exception {
    Answer answer = bridge.post("/toolcall", turn);

    assertEquals(400, answer.status(), answer.text());
    assertEquals("malformed_request", answer.code());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"function\":null}",
        "{\"function\":1}",
        "{\"function\":{}}",
        "{\"id\":7,\"function\":{\"name\":7}}",
        "{\"id\":null,\"function\":{\"name\":null,\"arguments\":null}}",
        "{\"id\":{},\"function\":{\"name\":[],\"arguments\":[]}}"
      })
  void aCallWithMembersOfWrongTypesFailsAlone(String wrong) throws Exception {
    JsonNode body = run("{\"tool_calls\":[" + wrong + "," + chat("c-2", "s__echo", "{}") + "]}");

    assertEquals(404, body.at("/tool_responses/0/status").asInt(), body.toString());
    assertEquals(200, body.at("/tool_responses/1/status").asInt());
    assertTrue(body.at("/messages/0/tool_call_id").isTextual(), body.toString());
  }

  @Test
  void aTurnWithTooManyCallsIsRejected() throws Exception {
    Answer answer = bridge.post("/toolcall", OPENAI_CHAT.turn(effects(500)));

    assertEquals(422, answer.status(), answer.text());
    assertTrue(answer.text().contains("128"), answer.text());
    assertEquals("no", answer.at("/executed"));
    assertFalse(Files.exists(folder.resolve("effects")));
    assertEquals(422, bridge.post("/toolcall", OPENAI_CHAT.turn(effects(129))).status());
  }

  @Test
  void aTurnWithTheMaximumNumberOfCallsRuns() throws Exception {
    ModelFormat.Call[] most =
        IntStream.range(0, 128)
            .mapToObj(i -> call("c-" + i, "s__echo", "{\"n\":" + i + "}"))
            .toArray(ModelFormat.Call[]::new);

    JsonNode body = run(OPENAI_CHAT.turn(most));

    for (int i = 0; i < 128; i++) {
      assertEquals("c-" + i, body.at("/messages/" + i + "/tool_call_id").asText());
      assertEquals("{\"n\":" + i + "}", body.at("/messages/" + i + "/content").asText());
    }
  }

  @Test
  void anEmptyTurnHasAnEmptyResponse() throws Exception {
    for (String turn : List.of("[]", "{\"tool_calls\":[]}", " [ ] ")) {
      JsonNode body = run(turn);
      assertEquals(0, body.path("tool_responses").size());
      assertEquals(0, body.path("messages").size());
    }
  }

  @ParameterizedTest
  @CsvSource({"''", "'   '", "with space", "é"})
  void anInvalidIdempotencyKeyIsRejected(String key) throws Exception {
    assertStatus(400, raw(effect("c-1"), "Idempotency-Key: " + key + "\r\n"));
    assertFalse(Files.exists(folder.resolve("effects")));
  }

  @Test
  void anOverlongOrMultilineIdempotencyKeyIsRejected() throws Exception {
    assertStatus(400, raw(effect("c-1"), "Idempotency-Key: " + "x".repeat(300) + "\r\n"));
    assertStatus(400, raw(effect("c-1"), "Idempotency-Key: a\r\n b\r\n"));
    assertStatus(400, raw(effect("c-1"), "Idempotency-Key: a\rb\r\n"));
    assertStatus(400, raw(effect("c-1"), "Idempotency-Key: a\nb\r\n"));
    assertStatus(400, raw(effect("c-1"), "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"));
    assertFalse(Files.exists(folder.resolve("effects")));
    assertStatus(200, raw(effect("c-1"), "Idempotency-Key: " + "x".repeat(255) + "\r\n"));
    assertEquals(1, effects());
  }

  @Test
  void aTurnRepeatedWithItsKeyRunsEachCallOnce() throws Exception {
    String turn = OPENAI_CHAT.turn(effects(3));

    Answer first = bridge.post("/toolcall", turn, "idempotency-key", "once");
    Answer second = bridge.post("/toolcall", turn, "idempotency-key", "once");

    assertEquals(200, second.status());
    assertEquals(first.text(), second.text());
    assertEquals(3, effects());
    bridge.post("/toolcall", turn, "idempotency-key", "another");
    assertEquals(6, effects());
    JsonNode other =
        bridge
            .post(
                "/toolcall",
                OPENAI_CHAT.turn(call("c-0", "s__effect", "{\"ms\":2}")),
                "idempotency-key",
                "once")
            .body();
    assertEquals(
        "idempotency_mismatch", other.at("/tool_responses/0/problem/code").asText(), "" + other);
    assertEquals(6, effects());
  }

  @Test
  void parallelRetriesWithOneKeyRunEachCallOnce() throws Exception {
    String turn =
        OPENAI_CHAT.turn(
            call("c-0", "s__effect", "{\"ms\":100}"), call("c-1", "s__effect", "{\"ms\":100}"));
    List<CompletableFuture<Integer>> answers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      answers.add(
          bridge
              .client()
              .sendAsync(
                  bridge.posting("/toolcall", turn, "idempotency-key", "parallel").build(),
                  java.net.http.HttpResponse.BodyHandlers.ofString())
              .thenApply(java.net.http.HttpResponse::statusCode));
    }
    for (CompletableFuture<Integer> answer : answers) {
      assertEquals(200, answer.join());
    }
    assertEquals(2, effects());
  }

  @Test
  void aKeyReusedForAnotherServerIsAMismatch() throws Exception {
    run(OPENAI_CHAT.turn(call("c-1", "s__echo", "{}")), "idempotency-key", "servers");

    JsonNode other =
        run(OPENAI_CHAT.turn(call("c-1", "gated__echo", "{}")), "idempotency-key", "servers");

    assertEquals("idempotency_mismatch", other.at("/tool_responses/0/problem/code").asText());
  }

  @Test
  void aDisconnectedClientCancelsItsWholeTurn() throws Exception {
    int before = cancels();
    String turn =
        OPENAI_CHAT.turn(
            call("c-1", "s__never", "{}"),
            call("c-2", "s__never", "{}"),
            call("c-3", "s__effect", "{}"));
    try (Socket socket = new Socket("127.0.0.1", bridge.port())) {
      socket.getOutputStream().write(request(turn, ""));
      bridge.until(() -> Files.exists(folder.resolve("effects")) && effects() == 1);
      bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() == 2);
    }
    bridge.until(() -> cancels() == before + 2);
    bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() == 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"tool_calls\":null}", "{"})
  void anInvalidTurnIsRejectedWhileServersStart(String turn) throws Exception {
    try (TestBridge own =
        TestBridge.of("{'mcpServers':{'s':" + TestBridge.entry("", "--slow-init", "1500") + "}}")) {
      assertTrue(own.post("/toolcall", turn).status() >= 400);
      assertEquals(404, own.get("/toolcall/tools?servers=nope").status());
    }
  }

  private static List<String> names(String query) throws Exception {
    Answer answer = bridge.get("/toolcall/tools" + query);
    assertEquals(200, answer.status(), answer.text());
    return answer
        .body()
        .path("tools")
        .valueStream()
        .map(tool -> tool.at("/function/name").asText())
        .sorted()
        .toList();
  }

  private static JsonNode run(String turn, String... headers) throws Exception {
    Answer answer = bridge.post("/toolcall", turn, headers);
    assertEquals(200, answer.status(), answer.text());
    return answer.body();
  }

  private static JsonNode runOne(String function, String arguments) throws Exception {
    return run(OPENAI_CHAT.turn(call("c-1", function, arguments))).at("/tool_responses/0");
  }

  private static String chat(String id, String name, String arguments) {
    return "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":%s}}"
        .formatted(id, name, Json.mapper().getNodeFactory().textNode(arguments));
  }

  private static String effect(String id) {
    return OPENAI_CHAT.turn(call(id, "s__effect", "{}"));
  }

  private static ModelFormat.Call[] effects(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> call("c-" + i, "s__effect", "{}"))
        .toArray(ModelFormat.Call[]::new);
  }

  private static int effects() throws IOException {
    return Files.readAllLines(folder.resolve("effects")).size();
  }

  private static int cancels() throws Exception {
    return Integer.parseInt(bridge.call("cancels", "{}").firstText());
  }

  private static byte[] request(String turn, String headers) {
    return ("POST /toolcall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + headers
            + "Content-Length: "
            + turn.length()
            + "\r\n\r\n"
            + turn)
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void assertStatus(int status, String answer) {
    assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), status + " expected: " + answer);
  }

  /** Sends a turn with raw headers; returns the raw response. */
  private static String raw(String turn, String headers) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", bridge.port())) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write(request(turn, headers + "Connection: close\r\n"));
      ByteArrayOutputStream answer = new ByteArrayOutputStream();
      socket.getInputStream().transferTo(answer);
      return answer.toString(StandardCharsets.UTF_8);
    }
  }

  @Test
  void geminiCallsWithoutIdsHaveResultsWithoutIds() throws Exception {
    JsonNode body =
        run(
            ModelFormat.GEMINI.turn(
                call(null, "s__sleep", "{\"ms\":1}"), call(null, "s__echo", "{}")));

    List<ModelFormat.ToolAnswer> answers = ModelFormat.GEMINI.toolAnswers(body.path("messages"));
    assertEquals(
        List.of("slept", "{}"), answers.stream().map(ModelFormat.ToolAnswer::text).toList());
    assertEquals(null, answers.get(0).id(), body.toString());
    assertEquals(null, answers.get(1).id());
  }

  @Test
  void repeatedCallsWithoutIdsRunOnceToo() throws Exception {
    String turn =
        ModelFormat.GEMINI.turn(
            call(null, "s__effect", "{\"ms\":1}"), call(null, "s__effect", "{\"ms\":1}"));

    run(turn, "idempotency-key", "without-ids");
    run(turn, "idempotency-key", "without-ids");

    assertEquals(2, effects());
  }
}
