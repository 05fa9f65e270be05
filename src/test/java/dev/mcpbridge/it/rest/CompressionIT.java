package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses that are compressed, and those that must not be. */
@Tag("rest")
class CompressionIT {
  private static final String[] GZIP = {"accept-encoding", "gzip"};
  private static final String LONG = "lorem ipsum dolor ".repeat(200);

  private TestBridge bridge;

  private void start(String http, String entry) {
    bridge =
        TestBridge.of(
                "{'http':{%s},'mcpServers':{'s':%s}}".formatted(http, TestBridge.entry(entry)))
            .awaitReady("s");
  }

  private void start() {
    start("", "'risk':{'tools':{'promise':2}}");
  }

  @AfterEach
  void stop() throws Exception {
    bridge.until(() -> MetricsText.heldBytes(bridge.get("/metrics").text()) == 0);
    bridge.assertAlive();
    bridge.close();
  }

  private record Response(int status, byte[] bytes, HttpResponse<?> head) {
    String header(String name) {
      return head.headers().firstValue(name).orElse(null);
    }

    boolean isCompressed() {
      return "gzip".equals(header("content-encoding"));
    }

    String text() throws IOException {
      return isCompressed()
          ? read(new GZIPInputStream(new ByteArrayInputStream(bytes)))
          : new String(bytes, StandardCharsets.UTF_8);
    }

    private static String read(InputStream in) throws IOException {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private Response send(HttpRequest.Builder request) throws Exception {
    HttpResponse<byte[]> response =
        bridge.client().send(request.build(), BodyHandlers.ofByteArray());
    return new Response(response.statusCode(), response.body(), response);
  }

  private Response get(String path, String... headers) throws Exception {
    return send(HttpRequest.newBuilder(bridge.uri(path)).headers(headers));
  }

  private Response post(String path, String body, String... headers) throws Exception {
    return send(bridge.posting(path, body, headers));
  }

  private Response call(String tool, String arguments) throws Exception {
    return post("/servers/s/tools/" + tool, arguments, GZIP);
  }

  private static String text(String value) {
    return "{\"text\":\"" + value + "\"}";
  }

  @Test
  void aLargeResultIsCompressedForAClientThatAcceptsIt() throws Exception {
    start();

    Response plain = post("/servers/s/tools/echo", text(LONG));
    Response compressed = call("echo", text(LONG));

    assertNull(plain.header("content-encoding"));
    assertTrue(compressed.isCompressed());
    assertTrue(compressed.bytes().length < plain.bytes().length / 10);
    assertEquals(plain.text(), compressed.text());
    assertEquals("application/json", compressed.header("content-type"));
  }

  @Test
  void smallResultsAndProblemsAreNotCompressed() throws Exception {
    start();

    assertNull(call("echo", "{}").header("content-encoding"));
    assertNull(call("unknown", text(LONG)).header("content-encoding"));
    assertNull(
        post("/servers/s/tools/echo", text(LONG), "accept-encoding", "gzip;q=0, br")
            .header("content-encoding"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1_000, 64_000, 70_000, 3_000_000})
  void resultsOfEverySizeArriveWhole(int size) throws Exception {
    start();

    Response response = call("big", "{\"size\":" + size + ",\"ms\":0}");

    assertTrue(response.isCompressed());
    assertTrue(response.bytes().length < size / 2 + 200);
    assertEquals(
        "x".repeat(size), Json.tree(response.text().getBytes()).at("/content/0/text").asText());
  }

  @Test
  void manyLargeResultsAtOnceArriveWhole() throws Exception {
    start();
    List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
    String arguments = "{\"size\":1500000,\"ms\":0}";
    for (int i = 0; i < 24; i++) {
      HttpRequest request = bridge.posting("/servers/s/tools/big", arguments, GZIP).build();
      all.add(bridge.client().sendAsync(request, BodyHandlers.ofByteArray()));
    }

    for (CompletableFuture<HttpResponse<byte[]>> each : all) {
      HttpResponse<byte[]> answer = each.join();
      Response response = new Response(answer.statusCode(), answer.body(), answer);
      assertEquals(200, response.status());
      assertTrue(response.text().contains("x".repeat(1_500_000)));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/servers/s/tools",
        "/toolcall/tools",
        "/openapi.json",
        "/servers/s/openapi.json",
        "/metrics"
      })
  void listsDocumentsAndPagesAreCompressed(String path) throws Exception {
    start();

    Response compressed = get(path, GZIP);

    assertTrue(compressed.isCompressed(), path);
    assertTrue(compressed.text().length() > 2 * compressed.bytes().length, path);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/servers/s/tools", "/console/main.js"})
  void aTagIsTheSameWhetherCompressedOrNot(String path) throws Exception {
    start("'console':true", "");
    Response compressed = get(path, GZIP);
    String tag = compressed.header("etag");

    assertTrue(compressed.isCompressed());
    assertTrue(tag.startsWith("W/\""), tag);
    assertEquals(tag, get(path, "accept-encoding", "identity").header("etag"));
    assertEquals(304, get(path, "if-none-match", tag).status());
    assertEquals(304, get(path, "if-none-match", tag, "accept-encoding", "gzip").status());
    assertTrue(
        String.join(",", compressed.head().headers().allValues("vary"))
            .toLowerCase()
            .contains("accept-encoding"));
  }

  @Test
  void nothingWithATokenOfAConfirmationIsCompressed() throws Exception {
    start();
    String call = "{\"server\":\"s\",\"tool\":\"%s\",\"arguments\":" + text(LONG) + "}";
    String function =
        "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":"
            + Json.mapper().writeValueAsString(text(LONG))
            + "}}";
    String turn = "{\"role\":\"assistant\",\"tool_calls\":[%s]}";
    String needed = function.formatted("a", "promise");

    Response rest = call("promise", text(LONG));
    Response batch =
        post(
            "/batch",
            "{\"calls\":[" + call.formatted("echo") + "," + call.formatted("promise") + "]}",
            GZIP);
    Response toolCall =
        post("/toolcall", turn.formatted(function.formatted("b", "echo") + "," + needed), GZIP);

    for (Response response : List.of(rest, batch, toolCall)) {
      assertTrue(response.text().contains("\"token\":"), response.text());
      assertTrue(response.bytes().length > LONG.length());
      assertNull(response.header("content-encoding"));
    }
    assertTrue(post("/batch", "{\"calls\":[" + call.formatted("echo") + "]}", GZIP).isCompressed());
    assertTrue(
        post("/toolcall", turn.formatted(function.formatted("b", "echo")), GZIP).isCompressed());
  }

  @Test
  void resultsOverMcpAreCompressedButNoQuestionWithAState() throws Exception {
    start();
    String[] accepting = {"accept-encoding", "gzip", "accept", "application/json"};
    String[] headers = {"mcp-protocol-version", "2026-07-28", "mcp-method", "tools/call"};

    Response echo = post("/mcp", mcp("echo"), with(accepting, with(headers, "s__echo")));
    Response promise = post("/mcp", mcp("promise"), with(accepting, with(headers, "s__promise")));
    Response list =
        post(
            "/mcp",
            mcp("echo").replace("tools/call", "tools/list"),
            with(
                accepting,
                new String[] {"mcp-protocol-version", "2026-07-28", "mcp-method", "tools/list"}));

    assertTrue(echo.isCompressed(), echo.text());
    assertTrue(echo.text().contains(LONG));
    assertTrue(list.isCompressed(), list.text());
    assertNull(promise.header("content-encoding"));
    assertTrue(promise.text().contains("\"requestState\":"), promise.text());
    assertTrue(promise.bytes().length > LONG.length());
  }

  private static String mcp(String tool) {
    return """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__%s","arguments":%s,\
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}"""
        .formatted(tool, text(LONG));
  }

  private static String[] with(String[] headers, String name) {
    return McpClient.with(headers, "mcp-name", name);
  }

  private static String[] with(String[] headers, String[] more) {
    List<String> all = new ArrayList<>(List.of(headers));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /** The events of a response, decompressed as they come. */
  private BufferedReader events(HttpRequest.Builder request, boolean isCompressed)
      throws Exception {
    HttpResponse<InputStream> response =
        bridge
            .client()
            .send(
                request.header("accept", "text/event-stream").headers(GZIP).build(),
                BodyHandlers.ofInputStream());
    assertEquals(200, response.statusCode());
    assertEquals(
        isCompressed,
        response.headers().firstValue("content-encoding").equals(Optional.of("gzip")));
    InputStream body = response.body();
    return new BufferedReader(
        new InputStreamReader(
            isCompressed ? new Decompressed(body) : body, StandardCharsets.UTF_8));
  }

  /** A reader of lines reads on as long as something is available, and gzip always says so. */
  private static final class Decompressed extends GZIPInputStream {
    Decompressed(InputStream in) throws IOException {
      super(in);
    }

    @Override
    public int available() {
      return 0;
    }
  }

  private static String next(BufferedReader events, String start) throws IOException {
    for (String line = events.readLine(); line != null; line = events.readLine()) {
      if (line.startsWith(start)) {
        return line;
      }
    }
    throw new AssertionError("The stream has ended before " + start);
  }

  @Test
  void eventsOfACallComeBeforeItsResultAlthoughCompressed() throws Exception {
    start();
    HttpRequest.Builder request =
        bridge.posting("/servers/s/tools/progress", "{\"steps\":3,\"ms\":600000}");

    try (BufferedReader events = events(request, true)) {
      assertEquals("event: progress", next(events, "event: "));
      assertNotNull(next(events, "data: "));
    }
  }

  @Test
  void aLargeResultOnAStreamFollowsTheEventsBeforeIt() throws Exception {
    start();
    HttpRequest.Builder request =
        bridge.posting("/servers/s/tools/big", "{\"size\":2000000,\"ms\":0}");

    try (BufferedReader events = events(request, true)) {
      assertEquals("event: result", next(events, "event: "));
      String data = next(events, "data: ").substring(6);
      assertEquals(2_000_000, Json.tree(data.getBytes()).at("/content/0/text").asText().length());
      assertEquals("", events.readLine());
      assertNull(events.readLine());
    }
  }

  @Test
  void aConfirmationOnAStreamIsThereWithoutCompression() throws Exception {
    start();
    HttpRequest request =
        bridge
            .posting("/servers/s/tools/promise", text(LONG))
            .header("accept", "text/event-stream")
            .headers(GZIP)
            .build();
    HttpResponse<byte[]> response = bridge.client().send(request, BodyHandlers.ofByteArray());

    assertTrue(new String(response.body(), StandardCharsets.ISO_8859_1).contains("\"token\":"));
    assertTrue(new Response(200, response.body(), response).text().contains("event: confirmation"));
  }

  @Test
  void eventsOfTheBridgeComeAtOnce() throws Exception {
    start();
    try (BufferedReader events = events(HttpRequest.newBuilder(bridge.uri("/events")), true)) {
      next(events, ": open");

      CompletableFuture<String> first =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return next(events, "event: confirmation");
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      call("promise", text(LONG));

      assertTrue(first.join().startsWith("event: confirmation"));
    }
  }

  @Test
  void theOperatorDecidesWhatIsCompressed() throws Exception {
    start("'compression':'lists'", "");
    assertTrue(get("/servers/s/tools", GZIP).isCompressed());
    assertNull(call("echo", text(LONG)).header("content-encoding"));
    events(bridge.posting("/servers/s/tools/echo", text(LONG)), false).close();

    bridge.reload(
        "{'http':{'compression':'off'},'mcpServers':{'s':%s}}".formatted(TestBridge.entry("")));

    assertNull(get("/servers/s/tools", GZIP).header("content-encoding"));
    events(HttpRequest.newBuilder(bridge.uri("/events")), false).close();
  }

  @Test
  void aClientThatLeavesWhileItsResultIsCompressedHarmsNone() throws Exception {
    start();
    for (int i = 0; i < 10; i++) {
      HttpRequest request =
          bridge.posting("/servers/s/tools/big", "{\"size\":4000000,\"ms\":0}", GZIP).build();
      bridge.client().send(request, BodyHandlers.ofInputStream()).body().close();
    }
    assertEquals(200, call("echo", text(LONG)).status());
  }

  @Test
  void aQuestionOfAServerIsNotCompressedForItsState() throws Exception {
    start();
    String result =
        "{\"resultType\":\"input_required\",\"requestState\":\"abc\",\"x\":\"" + LONG + "\"}";

    Response question = call("bad_result", "{\"result\":" + result + "}");

    assertTrue(question.text().contains("requestState"), question.text());
    assertNull(question.header("content-encoding"));
  }

  @Test
  void cachesAreToldThatTheFormDependsOnTheClient() throws Exception {
    start();
    for (String path : List.of("/metrics", "/openapi.json", "/servers/s/tools")) {
      assertTrue(
          String.join(
                  ",", get(path, "accept-encoding", "identity").head().headers().allValues("vary"))
              .toLowerCase()
              .contains("accept-encoding"),
          path);
    }
  }

  /** While a large event is compressed, small ones follow; none overtakes and none is lost. */
  @Test
  void eventsBehindALargeOneKeepTheirOrder() throws Exception {
    start();
    HttpRequest.Builder request = bridge.posting("/servers/s/tools/log", "{\"size\":900000}");

    try (BufferedReader events = events(request, true)) {
      assertTrue(next(events, "data: ").contains("x".repeat(900_000)));
      assertTrue(next(events, "data: ").contains("\"last\""));
      assertTrue(next(events, "data: ").contains("logged"));
    }
  }

  @Test
  void aCompressedStreamThatHasEndedLeavesItsPlaceToOthers() throws Exception {
    start("'maxStreams':2", "");
    for (int i = 0; i < 5; i++) {
      HttpRequest.Builder request = bridge.posting("/servers/s/tools/echo", text(LONG));
      try (BufferedReader events = events(request, true)) {
        assertEquals("event: result", next(events, "event: "));
        while (events.readLine() != null) {
          // to its end
        }
      }
    }
  }

  @Test
  void compressedStreamsEndWholeWhenTheBridgeCloses() throws Exception {
    start();
    try (BufferedReader result = events(bridge.posting("/servers/s/tools/echo", text(LONG)), true);
        BufferedReader events = events(HttpRequest.newBuilder(bridge.uri("/events")), true)) {
      next(result, "event: result");
      next(events, ": open");

      bridge.close();

      while (events.readLine() != null) {
        // an incomplete one would throw
      }
    }
    start();
  }
}
