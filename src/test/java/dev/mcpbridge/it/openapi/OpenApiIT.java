package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses and failures of an API, and what callers receive. */
@Tag("openapi")
class OpenApiIT {
  @AutoClose private static EchoApi api;
  @AutoClose private static EchoApi elsewhere;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    elsewhere = EchoApi.start();
    byte[] binary = new byte[3_000];
    for (int i = 0; i < binary.length; i++) {
      binary[i] = (byte) i;
    }
    api =
        EchoApi.start()
            .on("/object", 200, "application/json", "{\"n\":1.10,\"b\":12345678901234567890}")
            .on("/array", 200, "application/json", "[1.10,2]")
            .on("/text", 200, "text/plain; charset=utf-8", "grüße")
            .on("/lie", 200, "application/json", "<html>no")
            .on("/problem", 200, "application/problem+json", "{\"a\":1}")
            .on("/image", 200, "image/png", binary)
            .on("/audio", 200, "audio/wav", binary)
            .on("/binary", 200, "application/zip", binary)
            .on("/untyped", 200, null, "plain")
            .on("/empty", 204, null, "")
            .on("/large", 200, "application/json", "{\"s\":\"" + "ü".repeat(20_000) + "\"}")
            .on("/largebytes", 200, "application/zip", new byte[50_000])
            .on("/huge", 200, "text/plain", new byte[17 << 20])
            .on("/missing", 404, "application/json", "{\"why\":\"no such pet\"}")
            .on("/broken", 500, "text/plain", "it broke")
            .on("/longerror", 500, "text/plain", "x".repeat(100_000))
            .on("/breaksoff", EchoApi.truncateResponse())
            .on("/hangs", EchoApi.neverRespond())
            .on("/slams", (request, peer) -> false)
            .on(
                "/nonsense",
                (request, peer) -> {
                  peer.out().write("HELLO\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                  peer.out().flush();
                  return false;
                })
            .on("/moved", 302, null, "", "location", "/object")
            .on("/relative", 301, null, "", "location", "object")
            .on("/away", 302, null, "", "location", elsewhere.url("/steal"))
            .on("/upgrade", 307, null, "", "location", "https://127.0.0.1/")
            .on("/file", 302, null, "", "location", "file:///etc/passwd")
            .on("/loop", 302, null, "", "location", "/loop")
            .on("/posted", 303, null, "", "location", "/object");
    ApiDocument document =
        ApiDocument.create()
            .withGets(
                """
            object array text lie problem image audio binary untyped empty large largebytes huge
            missing broken longerror breaksoff hangs slams nonsense moved relative away upgrade
            file loop""");
    document
        .with("post", "/posted", "posted", "")
        .with(
            "get",
            "/echo",
            "echo",
            "'parameters':[" + ApiDocument.parameter("m", "query", "") + "]")
        .with("delete", "/echo", "remove", "")
        .with("post", "/echo", "add", "");
    api.on("/openapi.json", document.asScript());
    bridge =
        TestBridge.of(
                """
            {'mcpServers':{'s':{'type':'openapi','url':'%s','largeResult':30000,
            'timeout':20,'tools':{'hangs':{'timeout':2}},
            'headers':{'Authorization':'Bearer of-the-operator'}},
            'risky':{'type':'openapi','url':'%s','risk':{'fromMethods':true}}}}"""
                    .formatted(api.url("/openapi.json"), api.url("/openapi.json")))
            .awaitReady("s", "risky");
  }

  @AfterEach
  void alive() throws Exception {
    assertTrue(bridge.call("echo", "{\"m\":\"x\"}").firstText().contains("GET /echo?m=x "));
    assertEquals("ready", bridge.state("s"));
  }

  @Test
  void jsonObjectBecomesStructuredContent() throws Exception {
    Answer answer = bridge.call("object", "{}");

    String json = "{\"n\":1.10,\"b\":12345678901234567890}";
    assertEquals(json, answer.firstText());
    assertTrue(answer.text().contains("\"structuredContent\":" + json), answer.text());
    assertTrue(bridge.call("problem", "{}").body().has("structuredContent"));
  }

  @ParameterizedTest
  @CsvSource({"array,'[1.10,2]'", "text,grüße", "lie,<html>no", "untyped,plain"})
  void otherTextualResponsesBecomeText(String tool, String expected) throws Exception {
    Answer answer = bridge.call(tool, "{}");

    assertEquals(expected, answer.firstText());
    assertFalse(answer.body().has("structuredContent"));
    assertFalse(answer.body().path("isError").asBoolean());
  }

  @Test
  void emptyResponseReportsItsStatus() throws Exception {
    Answer answer = bridge.call("empty", "{}");

    assertEquals("HTTP 204 Said", answer.firstText());
    assertFalse(answer.body().path("isError").asBoolean());
  }

  @ParameterizedTest
  @CsvSource({
    "image,image,/data,image/png",
    "audio,audio,/data,audio/wav",
    "binary,resource,/resource/blob,application/zip"
  })
  void binaryResponseKeepsItsMediaType(String tool, String type, String pointer, String mime)
      throws Exception {
    JsonNode content = bridge.call(tool, "{}").body().at("/content/0");

    assertEquals(type, content.path("type").asText());
    byte[] data = Base64.getDecoder().decode(content.at(pointer).asText());
    assertEquals(3_000, data.length);
    assertEquals((byte) 0xFE, data[254]);
    assertTrue(content.toString().contains("\"mimeType\":\"" + mime + "\""));
  }

  @Test
  void largeResponseIsExcerptedAndReadableByUri() throws Exception {
    Answer answer = bridge.call("large", "{}");

    assertTrue(answer.text().length() < 10_000, "the result is too long");
    JsonNode link = answer.body().at("/content/1");
    assertEquals("resource_link", link.path("type").asText());
    String uri = link.path("uri").asText();
    Answer whole = resource(uri);
    assertEquals("{\"s\":\"" + "ü".repeat(20_000) + "\"}", whole.at("/contents/0/text"));
    assertEquals("application/json", whole.at("/contents/0/mimeType"));

    String bytes = bridge.call("largebytes", "{}").at("/content/1/uri");
    assertArrayEquals(
        new byte[50_000], Base64.getDecoder().decode(resource(bytes).at("/contents/0/blob")));
  }

  @Test
  void largeResponseUriCannotBeGuessed() throws Exception {
    String uri = bridge.call("large", "{}").at("/content/1/uri");
    String otherUri = bridge.call("large", "{}").at("/content/1/uri");

    assertNotEquals(uri, otherUri);
    assertTrue(uri.matches("api-result:///[0-9a-f]{32}"), uri);
    String last = uri.endsWith("a") ? "b" : "a";
    assertEquals(404, resource(uri.substring(0, uri.length() - 1) + last).status());
    assertEquals(404, resource("api-result:///body").status());
    assertEquals(404, resource("file:///etc/passwd").status());
    assertFalse(bridge.get("/servers/s/resources").text().contains("api-result"));
  }

  private static Answer resource(String uri) throws Exception {
    return bridge.get("/servers/s/resources/" + URLEncoder.encode(uri, StandardCharsets.UTF_8));
  }

  @Test
  void oversizedResponseIsAnErrorOfAnExecutedCall() throws Exception {
    Answer answer = bridge.call("huge", "{}");

    assertEquals(502, answer.status());
    assertEquals("response_too_large", answer.code());
    assertEquals("yes", answer.at("/executed"));
  }

  @Test
  void errorStatusBecomesAToolErrorWithTheBody() throws Exception {
    Answer missing = bridge.call("missing", "{}");
    assertEquals(200, missing.status());
    assertTrue(missing.body().path("isError").asBoolean());
    assertEquals("HTTP 404 Said\n{\"why\":\"no such pet\"}", missing.firstText());
    assertEquals("HTTP 500 Said\nit broke", bridge.call("broken", "{}").firstText());

    Answer longest = bridge.call("longerror", "{}");
    assertTrue(longest.text().length() < 6_000, "the excerpt is too long");
    assertTrue(longest.body().path("isError").asBoolean());
  }

  /** A GET without any response is retried once. */
  @ParameterizedTest
  @CsvSource({"breaksoff,1", "slams,2", "nonsense,1"})
  void lostConnectionLeavesExecutionUnknown(String tool, int times) throws Exception {
    int before = api.requests("/" + tool).size();

    Answer answer = bridge.call(tool, "{}");

    assertEquals(502, answer.status(), answer.text());
    assertEquals("unknown", answer.at("/executed"));
    assertEquals(before + times, api.requests("/" + tool).size());
  }

  @Test
  void hangingCallIsCancelledAtItsDeadline() throws Exception {
    int before = api.disconnects();

    Answer answer = bridge.call("hangs", "{}");

    assertEquals(504, answer.status());
    assertEquals("unknown", answer.at("/executed"));
    bridge.until(() -> api.disconnects() == before + 1);
  }

  @Test
  void callerDisconnectClosesTheApiConnection() throws Exception {
    int left = api.disconnects();
    int hits = api.requests("/hangs").size();
    CompletableFuture<HttpResponse<String>> call =
        bridge
            .client()
            .sendAsync(
                bridge.posting("/servers/risky/tools/hangs", "{}").build(),
                HttpResponse.BodyHandlers.ofString());
    bridge.until(() -> api.requests("/hangs").size() == hits + 1);

    call.cancel(true);

    bridge.until(() -> api.disconnects() == left + 1);
  }

  @Test
  void unreachableApiIsDegradedAndRecovers() throws Exception {
    EchoApi stopped =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/echo", "echo", "").asScript());
    int port = stopped.port();
    try (TestBridge own =
        TestBridge.of(
                "{'mcpServers':{'s':{'type':'openapi','heartbeat':0.2,'maxRestartDelay':0.5,'url':'"
                    + stopped.url("/openapi.json")
                    + "'}}}")
            .awaitReady("s")) {
      stopped.close();

      Answer answer = own.call("echo", "{}");

      assertTrue(answer.status() == 502 || answer.status() == 503, answer.toString());
      assertEquals("no", answer.at("/executed"), answer.text());
      own.until(() -> own.state("s").equals("degraded"));
      for (long end = System.nanoTime() + 1_000_000_000L; System.nanoTime() < end; ) {
        JsonNode shown = own.get("/servers/s").body();
        assertEquals("degraded", shown.path("state").asText(), shown.toString());
        assertTrue(shown.path("last_error").asText().contains("127.0.0.1:" + port), "" + shown);
        TimeUnit.MILLISECONDS.sleep(50);
      }
      try (EchoApi restarted =
          EchoApi.onPort(port)
              .on(
                  "/openapi.json",
                  ApiDocument.create().with("get", "/echo", "echo", "").asScript())) {
        own.awaitReady("s");
        assertEquals(200, own.call("echo", "{}").status());
        assertEquals(1, restarted.requests("/echo").size());
        assertEquals(0, own.get("/servers/s").body().path("restarts").asInt());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"moved", "relative"})
  void redirectWithinTheOriginIsFollowed(String tool) throws Exception {
    int before = api.requests("/object").size();

    assertTrue(bridge.call(tool, "{}").firstText().startsWith("{\"n\":1.10"));
    assertEquals(before + 1, api.requests("/object").size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"away", "upgrade", "file"})
  void redirectToAnotherOriginIsNotFollowed(String tool) throws Exception {
    Answer answer = bridge.call(tool, "{}");

    assertTrue(answer.body().path("isError").asBoolean(), answer.text());
    assertTrue(answer.firstText().contains("not followed"), answer.text());
    assertEquals(List.of(), elsewhere.requests());
  }

  @Test
  void redirectsAreLimitedAndPostsAreNotRepeated() throws Exception {
    assertTrue(bridge.call("loop", "{}").body().path("isError").asBoolean());
    assertTrue(api.requests("/loop").size() <= 6);

    int before = api.requests("/object").size();
    assertTrue(bridge.call("posted", "{}").body().path("isError").asBoolean());
    assertEquals(1, api.requests("/posted").size());
    assertEquals(before, api.requests("/object").size());
  }

  @Test
  void riskFromMethodsRequiresConfirmationOfWrites() throws Exception {
    assertEquals(200, risky("echo").status());
    for (String tool : List.of("add", "remove")) {
      int before = api.requests().size();

      Answer pending = risky(tool);

      assertTrue(pending.body().has("confirmation_id"), pending.text());
      assertEquals(before, api.requests().size());
      Answer confirmed =
          bridge.post(
              "/confirmations/" + pending.at("/confirmation_id"),
              "{\"confirm\":true,\"token\":\"" + pending.at("/token") + "\"}");
      assertEquals(200, confirmed.status(), confirmed.text());
      assertEquals(before + 1, api.requests().size());
      assertEquals(tool.equals("add") ? "0" : null, api.lastRequest().header("content-length"));
    }
    assertEquals("GET", methodOf(bridge.call("echo", "{}")));
    assertEquals("POST", methodOf(bridge.call("add", "{}")));
  }

  private static String methodOf(Answer echoed) {
    return echoed.at("/structuredContent/line").split(" ")[0];
  }

  private static Answer risky(String tool) throws Exception {
    return bridge.post("/servers/risky/tools/" + tool, "{}");
  }

  @Test
  void mcpClientUsesTheApiAsAServer() throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}");
    JsonNode initialized = client.initialize();

    assertTrue(initialized.has("capabilities"));
    JsonNode tools = client.request("tools/list", "{}").result().path("tools");
    JsonNode echo =
        tools.valueStream().filter(t -> t.path("name").asText().equals("echo")).findFirst().get();
    assertTrue(echo.at("/annotations/readOnlyHint").asBoolean());
    assertTrue(client.call("echo", "{\"m\":\"x\"}").firstText().contains("GET /echo?m=x HTTP/1.1"));
    String uri = client.call("large", "{}").at("/content/1/uri");
    assertTrue(
        client.request("resources/read", "{\"uri\":\"" + uri + "\"}").result().toString().length()
            > 20_000);
  }

  @Test
  void apiStateIsReported() throws Exception {
    JsonNode shown = bridge.get("/servers/s").body();

    assertEquals("ready", shown.path("state").asText());
    assertEquals(30, shown.path("tool_count").asInt());
    assertEquals("Echo", shown.at("/server_info/name").asText());
    assertEquals("1.2.3", shown.at("/server_info/version").asText());
    assertTrue(bridge.get("/servers").text().contains("\"s\""));
    assertFalse(bridge.get("/servers/s").text().contains("of-the-operator"));
    assertEquals(200, bridge.post("/servers/risky/restart", "").status());
    bridge.awaitReady("risky");
    assertEquals(200, risky("echo").status());
  }
}
