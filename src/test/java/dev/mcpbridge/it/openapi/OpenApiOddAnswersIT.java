package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EchoApi.Script;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Unusual and invalid HTTP responses, and unusual paths. */
@Tag("openapi")
class OpenApiOddAnswersIT {
  private static final String CHUNKED =
      "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";

  /** Responses whose connection is still being closed. */
  private static final AtomicInteger CLOSING = new AtomicInteger();

  @AutoClose private static EchoApi api;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    String latin = "text/plain; charset=ISO-8859-1";
    api =
        EchoApi.start()
            .on("/latin", 200, latin, bytes("grüße", StandardCharsets.ISO_8859_1))
            .on(
                "/quoted",
                200,
                "text/plain;Charset=\"utf-16be\"",
                bytes("grüße", StandardCharsets.UTF_16BE))
            .on("/latinerror", 404, latin, bytes("grüße", StandardCharsets.ISO_8859_1))
            .on("/unknowncharset", 200, "text/plain; charset=x y", "grüße")
            .on("/badutf", 200, "application/json", new byte[] {'"', (byte) 0xFF, '"'})
            .on(
                "/deepjson",
                200,
                "application/json",
                "{\"a\":" + "[".repeat(5_000) + "]".repeat(5_000) + "}")
            .on(
                "/gzip",
                200,
                "text/plain",
                zipped(bytes("packed", StandardCharsets.UTF_8)),
                "content-encoding",
                "gzip")
            .on(
                "/cutgzip",
                200,
                "text/plain",
                new byte[] {0x1f, (byte) 0x8b},
                "content-encoding",
                "gzip")
            .on(
                "/halfgzip",
                200,
                "text/plain",
                Arrays.copyOf(zipped(bytes("packed", StandardCharsets.UTF_8)), 20),
                "content-encoding",
                "gzip")
            .on("/brotli", 200, "text/plain", "?", "content-encoding", "br")
            .on("/plain", 200, "text/plain", "plain", "content-encoding", "identity")
            .on("/nogzip", 200, "text/plain", "", "content-encoding", "gzip")
            .on("/bomb", 200, "text/plain", zipped(new byte[100 << 20]), "content-encoding", "gzip")
            .on(
                "/brokengzip",
                200,
                "text/plain",
                "this is not gzip despite its header",
                "content-encoding",
                "gzip")
            .on("/chunked", raw(CHUNKED + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"))
            .on("/cutchunks", raw(CHUNKED + "3\r\nabc\r\nff\r\nde"))
            .on("/badchunks", raw(CHUNKED + "zz\r\nabc\r\n"))
            .on(
                "/early",
                raw(
                    "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
                        + "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfinal"))
            .on("/toend", raw("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nuntil the end"))
            .on("/closing", raw("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"))
            .on("/bigheader", raw("HTTP/1.1 200 OK\r\nx: " + "y".repeat(100_000) + "\r\n\r\n"))
            .on(
                "/twolengths",
                raw("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok!"))
            .on("/stale", closingTheSecondTime(""))
            .on("/halfstale", closingTheSecondTime("HTTP/1.1 200 OK\r\nx: "))
            .on("/never", (request, peer) -> false)
            .on(
                "/head",
                (request, peer) -> {
                  peer.out()
                      .write(
                          bytes(
                              "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n",
                              StandardCharsets.UTF_8));
                  return true;
                });
    ApiDocument document =
        ApiDocument.create()
            .withGets(
                """
            latin quoted latinerror unknowncharset badutf deepjson gzip bomb brokengzip cutgzip
            halfgzip brotli plain nogzip chunked cutchunks badchunks early toend closing
            bigheader twolengths stale halfstale never echo""");
    String id =
        "'parameters':["
            + ApiDocument.parameter("id", "path", "")
            + ","
            + ApiDocument.parameter("upload", "query", "")
            + "]";
    document
        .with("head", "/head", "head", "")
        .with("options", "/options", "options", "")
        .with("post", "/closing", "post", "")
        .with("head", "/stale", "stalehead", "")
        .with("post", "/stale", "stalepost", "")
        .with("delete", "/stale", "staledelete", "")
        .with("delete", "/{id}#upload", "fragment", id)
        .with("get", "/q/{id}?acl", "query", id)
        .with("get", "/a b/{id}", "space", id)
        .with("get", "/a|b", "pipe", "");
    api.on("/openapi.json", document.asScript());
    bridge =
        TestBridge.of(
                "{'mcpServers':{'s':{'type':'openapi','timeout':20,'url':'%s'}}}"
                    .formatted(api.url("/openapi.json")))
            .awaitReady("s");
  }

  private static byte[] bytes(String text, Charset charset) {
    return text.getBytes(charset);
  }

  private static byte[] zipped(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  /** Sends this response and closes the connection. */
  private static Script raw(String response) {
    return (request, peer) -> {
      CLOSING.incrementAndGet();
      try (OutputStream out = peer.out()) {
        out.write(bytes(response, StandardCharsets.UTF_8));
        return false;
      } finally {
        CLOSING.decrementAndGet();
      }
    };
  }

  /** Serves one request per connection; the next one gets only these bytes. */
  private static Script closingTheSecondTime(String partial) {
    Set<OutputStream> connections = ConcurrentHashMap.newKeySet();
    return (request, peer) -> {
      if (connections.add(peer.out())) {
        return peer.write(200, "text/plain", bytes("ok", StandardCharsets.UTF_8));
      }
      return raw(partial).answer(request, peer);
    };
  }

  /** Until a connection is closed, the client cannot detect that it will be. */
  private static void awaitClosed() throws Exception {
    bridge.until(() -> CLOSING.get() == 0);
  }

  @AfterEach
  void alive() throws Exception {
    awaitClosed();
    assertTrue(bridge.call("echo", "{}").firstText().contains("GET /echo "));
  }

  @ParameterizedTest
  @CsvSource({
    "latin,grüße",
    "quoted,grüße",
    "unknowncharset,grüße",
    "gzip,packed",
    "plain,plain",
    "nogzip,HTTP 200 Said",
    "chunked,abcde",
    "early,final",
    "toend,until the end",
    "closing,ok",
    "badutf,\"\uFFFD\""
  })
  void validHttpResponsesAreUnderstood(String tool, String expected) throws Exception {
    Answer answer = bridge.call(tool, "{}");

    assertEquals(200, answer.status(), answer.text());
    assertEquals(expected, answer.firstText());
    assertFalse(answer.body().path("isError").asBoolean());
  }

  @Test
  void errorBodyIsReadInItsCharset() throws Exception {
    assertEquals("HTTP 404 Said\ngrüße", bridge.call("latinerror", "{}").firstText());
  }

  @Test
  void deeplyNestedJsonBecomesText() throws Exception {
    Answer answer = bridge.call("deepjson", "{}");

    assertEquals(200, answer.status());
    assertFalse(answer.body().has("structuredContent"));
    assertTrue(answer.firstText().startsWith("{\"a\":[["));
  }

  @Test
  void decompressionIsLimited() throws Exception {
    Answer answer = bridge.call("bomb", "{}");

    assertEquals("response_too_large", answer.code(), answer.toString());
    assertEquals("yes", answer.at("/executed"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cutchunks", "badchunks", "bigheader", "twolengths"})
  void invalidHttpLeavesExecutionUnknown(String tool) throws Exception {
    int before = api.requests("/" + tool).size();

    Answer answer = bridge.call(tool, "{}");

    assertEquals(502, answer.status(), answer.text());
    assertEquals("unknown", answer.at("/executed"), answer.text());
    assertEquals(before + 1, api.requests("/" + tool).size());
  }

  @ParameterizedTest
  @CsvSource({
    "brokengzip,not a complete gzip",
    "cutgzip,not a complete gzip",
    "halfgzip,not a complete gzip",
    "brotli,coding br"
  })
  void invalidCompressionIsAnErrorOfAnExecutedCall(String tool, String reason) throws Exception {
    Answer answer = bridge.call(tool, "{}");

    assertEquals(502, answer.status(), answer.text());
    assertEquals("yes", answer.at("/executed"));
    assertTrue(answer.text().contains(reason), answer.text());
  }

  @Test
  void methodsWithoutABodyWork() throws Exception {
    assertEquals("HTTP 200 OK", bridge.call("head", "{}").firstText());
    assertEquals("HEAD /head HTTP/1.1", api.lastRequest().line());
    assertTrue(bridge.call("options", "{}").firstText().contains("OPTIONS /options "));
  }

  @Test
  void closedConnectionsAreNotReused() throws Exception {
    for (int i = 0; i < 20; i++) {
      Answer answer = bridge.call("post", "{}");
      assertEquals("ok", answer.firstText(), answer::toString);
      awaitClosed();
    }
    assertEquals(
        20, api.requests("/closing").stream().filter(r -> r.line().startsWith("POST")).count());
  }

  @ParameterizedTest
  @CsvSource({"stale,GET", "stalehead,HEAD"})
  void safeRequestIsRetriedIfItsConnectionCloses(String tool, String method) throws Exception {
    freshConnection("stale");
    int before = api.requests("/stale").size();

    Answer answer = bridge.call(tool, "{}");

    assertEquals(200, answer.status(), answer.text());
    assertFalse(answer.body().path("isError").asBoolean(), answer.text());
    List<String> lines = api.requests("/stale").stream().map(EchoApi.Request::line).toList();
    assertEquals(
        List.of(method + " /stale HTTP/1.1", method + " /stale HTTP/1.1"),
        lines.subList(before, lines.size()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"stalepost", "staledelete"})
  void unsafeRequestIsNotRetried(String tool) throws Exception {
    freshConnection("stale");
    int before = api.requests("/stale").size();

    Answer answer = bridge.call(tool, "{}");

    assertEquals("upstream_crashed", answer.code(), answer.text());
    assertEquals("unknown", answer.at("/executed"));
    assertEquals(before + 1, api.requests("/stale").size());
  }

  @Test
  void requestWithAPartialResponseIsNotRetried() throws Exception {
    freshConnection("halfstale");
    int before = api.requests("/halfstale").size();

    Answer answer = bridge.call("halfstale", "{}");

    assertEquals("upstream_crashed", answer.code(), answer.text());
    assertEquals(before + 1, api.requests("/halfstale").size());
  }

  @Test
  void requestIsRetriedOnlyOnce() throws Exception {
    Answer answer = bridge.call("never", "{}");

    assertEquals("upstream_crashed", answer.code(), answer.text());
    assertEquals("unknown", answer.at("/executed"));
    assertEquals(2, api.requests("/never").size());
  }

  /** Leaves one pooled connection, which has served this path once. */
  private static void freshConnection(String tool) throws Exception {
    bridge.call("closing", "{}");
    awaitClosed();
    assertEquals("ok", bridge.call(tool, "{}").firstText());
  }

  @Test
  void concurrentCallsAreNotMixedUp() throws Exception {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      answers.add(bridge.callLater("query", "{\"id\":\"n" + i + "\"}"));
    }
    for (int i = 0; i < 200; i++) {
      String text = answers.get(i).get(30, TimeUnit.SECONDS).firstText();
      assertTrue(text.contains("/q/n" + i + "?acl "), text);
    }
  }

  @Test
  void documentPathMayContainQueryAndFragment() throws Exception {
    bridge.call("query", "{\"id\":\"x\",\"upload\":\"1\"}");
    assertEquals("GET /q/x?acl&upload=1 HTTP/1.1", api.lastRequest().line());
    bridge.call("fragment", "{\"id\":\"x\",\"upload\":\"1\"}");
    assertEquals("DELETE /x?upload=1 HTTP/1.1", api.lastRequest().line());
  }

  @Test
  void operationWithAnInvalidPathIsOmitted() throws Exception {
    String tools = bridge.get("/servers/s/tools").text();

    assertTrue(tools.contains("\"query\""));
    assertFalse(tools.contains("\"space\""));
    assertFalse(tools.contains("\"pipe\""));
  }
}
