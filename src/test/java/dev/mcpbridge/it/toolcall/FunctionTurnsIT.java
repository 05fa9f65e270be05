package dev.mcpbridge.it.toolcall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EchoApi.Request;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls that are sent to a function executor in one request. */
@Tag("toolcall")
class FunctionTurnsIT {
  private static final List<String> FUNCTIONS = List.of("echo", "broken", "forgotten", "refused");

  @AutoClose private final EchoApi executor = EchoApi.start();
  @AutoClose private TestBridge bridge;
  private CountDownLatch answer = new CountDownLatch(0);

  @BeforeEach
  void start() throws Exception {
    executor.on(
        "/run",
        (request, peer) -> {
          List<JsonNode> calls = calls(request);
          if (!calls.isEmpty() && !isOver(answer)) {
            throw new IOException("the test has ended");
          }
          boolean isRefused = calls.stream().anyMatch(call -> name(call).equals("refused"));
          return isRefused
              ? peer.write(403, "text/plain", new byte[0])
              : peer.write(200, "application/json", responses(calls));
        });
    bridge =
        TestBridge.of(
                """
                {'mcpServers':{
                'many':{%s,'callsPerRequest':8,'collect':0.3},
                'late':{%s,'callsPerRequest':8,'collect':0.3,'timeout':1.5},
                'single':{%s}}}"""
                    .formatted(entry(), entry(), entry()))
            .awaitReady("many", "late", "single");
  }

  private static boolean isOver(CountDownLatch latch) throws IOException {
    try {
      return latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private String entry() {
    String functions =
        FUNCTIONS.stream()
            .map(name -> "{'name':'" + name + "','parameters':{'type':'object'}}")
            .collect(Collectors.joining(","));
    return "'type':'toolcall','url':'" + executor.url("/run") + "','tools':[" + functions + "]";
  }

  private static List<JsonNode> calls(Request request) {
    try {
      return Json.mapper().readTree(request.body()).path("tool_calls").valueStream().toList();
    } catch (IOException e) {
      throw new AssertionError(request.text(), e);
    }
  }

  private static String name(JsonNode call) {
    return call.at("/function/name").asText();
  }

  /** In the reverse order, and without one for {@code forgotten}. */
  private static byte[] responses(List<JsonNode> calls) {
    List<String> responses =
        IntStream.rangeClosed(1, calls.size())
            .mapToObj(i -> calls.get(calls.size() - i))
            .filter(call -> !name(call).equals("forgotten"))
            .map(
                call ->
                    "{\"tool_call_id\":%s,\"output\":%s}"
                        .formatted(
                            call.path("id"),
                            name(call).equals("broken")
                                ? "{\"error\":\"it broke\"}"
                                : call.at("/function/arguments").asText()))
            .toList();
    return ("{\"tool_responses\":[" + String.join(",", responses) + "]}")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** The numbers of calls in the requests that had any. */
  private List<Integer> turns() {
    return executor.requests().stream()
        .map(request -> calls(request).size())
        .filter(size -> size > 0)
        .toList();
  }

  private Answer batch(String server, String... functions) throws Exception {
    String calls =
        IntStream.range(0, functions.length)
            .mapToObj(
                i ->
                    "{\"server\":\"%s\",\"tool\":\"%s\",\"arguments\":{\"n\":%d}}"
                        .formatted(server, functions[i], i))
            .collect(Collectors.joining(","));
    return bridge.post("/batch", "{\"concurrency\":100,\"calls\":[" + calls + "]}");
  }

  @AfterEach
  void alive() throws Exception {
    answer.countDown();
    assertEquals("{\"n\":1}", bridge.post("/servers/many/tools/echo", "{\"n\":1}").firstText());
  }

  @Test
  void callsThatComeTogetherAreOneRequestAndEachHasItsOwnResult() throws Exception {
    Answer answers = batch("many", "echo", "broken", "forgotten", "echo");

    assertEquals(List.of(4), turns());
    assertEquals("{\"n\":0}", answers.at("/results/0/body/content/0/text"));
    assertEquals("it broke", answers.at("/results/1/body/content/0/text"));
    assertEquals("true", answers.at("/results/1/body/isError"));
    assertEquals("502", answers.at("/results/2/status"));
    assertEquals("unknown", answers.at("/results/2/body/executed"));
    assertEquals("{\"n\":3}", answers.at("/results/3/body/content/0/text"));
  }

  @Test
  void noRequestHasMoreCallsThanConfigured() throws Exception {
    Answer answers = batch("many", "echo ".repeat(19).split(" "));

    for (int i = 0; i < 19; i++) {
      assertEquals(
          "{\"n\":" + i + "}", answers.at("/results/" + i + "/body/content/0/text"), "call " + i);
    }
    assertEquals(List.of(8, 8, 3), turns().stream().sorted((a, b) -> b - a).toList());
  }

  @Test
  void byDefaultEachCallIsARequest() throws Exception {
    batch("single", "echo", "echo", "echo");

    assertEquals(List.of(1, 1, 1), turns());
  }

  @Test
  void refusedRequestRefusesAllOfItsCalls() throws Exception {
    Answer answers = batch("many", "echo", "refused", "echo");

    assertEquals(List.of(3), turns());
    for (int i = 0; i < 3; i++) {
      assertEquals("502", answers.at("/results/" + i + "/status"));
      assertEquals("no", answers.at("/results/" + i + "/body/executed"));
    }
  }

  @Test
  void callThatIsCancelledBeforeTheRequestIsNotInIt() throws Exception {
    Answer begun = inBackground("many");
    bridge.delete("/calls/" + begun.at("/call_id"));
    assertEquals("{\"n\":7}", bridge.post("/servers/many/tools/echo", "{\"n\":7}").firstText());

    assertEquals(List.of(1), turns());
  }

  private Answer inBackground(String server) throws Exception {
    Answer begun =
        bridge.post("/servers/" + server + "/tools/echo", "{\"n\":0}", "prefer", "respond-async");
    assertEquals(202, begun.status(), begun.toString());
    return begun;
  }

  @Test
  void requestGoesOnUntilItsLastCallIsCancelled() throws Exception {
    answer = new CountDownLatch(1);
    Answer one = inBackground("many");
    Answer two = inBackground("many");
    bridge.until(() -> turns().equals(List.of(2)));

    bridge.delete("/calls/" + one.at("/call_id"));
    answer.countDown();

    String path = "/calls/" + two.at("/call_id");
    bridge.until(() -> bridge.get(path).text().contains("\"status\":\"done\""));
    assertTrue(bridge.get(path).text().contains("{\\\"n\\\":0}"), bridge.get(path).text());
    assertEquals(0, executor.disconnects());
  }

  @Test
  void callsOfARequestThatTakesTooLongEndAtTheirDeadline() throws Exception {
    answer = new CountDownLatch(1);

    Answer answers = batch("late", "echo", "echo");

    assertEquals("504", answers.at("/results/0/status"), answers.text());
    assertEquals("unknown", answers.at("/results/1/body/executed"), answers.text());
    assertEquals(List.of(2), turns());
  }
}
