package dev.mcpbridge.it.rest;

import static dev.mcpbridge.fixture.RawHttp.CALL;
import static dev.mcpbridge.fixture.RawHttp.JSON;
import static dev.mcpbridge.fixture.RawHttp.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.RawHttp;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Invalid requests: each is rejected with a 4xx status, and the next valid request succeeds. */
@Tag("rest")
class BadInputIT {
  @AutoClose
  private static final TestBridge bridge =
      TestBridge.of(
              "{'http':{'bodyTimeout':0.5,'headTimeout':0.5},'mcpServers':{'s':%s}}"
                  .formatted(TestBridge.entry("")))
          .awaitReady("s");

  @AfterEach
  void alive() throws Exception {
    bridge.assertAlive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " ",
        "{\"a\":",
        "{} x",
        "{}{}",
        "{\"a\":1,}",
        "{'a':1}",
        "// x\n{}",
        "null",
        "1",
        "\"x\"",
        "true",
        "[]",
        "{\"path\":\"a\",\"path\":\"b\"}",
        "\uFEFF{}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\u0000\"}",
        "{\"a\":NaN}",
        "{\"a\":1e400}",
        "{\"a\":01}",
        "{\"a\":+1}"
      })
  void bodiesOtherThanOneJsonObjectAre400(String body) throws Exception {
    Answer answer = bridge.call("echo", body);

    assertEquals(400, answer.status(), answer.text());
    assertEquals("malformed_request", answer.code());
    assertEquals("no", answer.at("/executed"));
  }

  @Test
  void depthAndSizeAreBounded() throws Exception {
    assertEquals(200, bridge.call("echo", nested(200)).status());
    assertEquals(400, bridge.call("echo", nested(201)).status());
    assertEquals(400, bridge.call("echo", "{\"a\":" + "[".repeat(200_000)).status());
    assertEquals(400, bridge.call("echo", "{\"n\":" + "1".repeat(10_000) + "}").status());
    assertEquals(413, bridge.call("echo", "{\"a\":\"" + "x".repeat(4 << 20) + "\"}").status());
  }

  @Test
  void hashCollisionsOfMemberNamesDoNotBlockOthers() throws Exception {
    StringBuilder body = new StringBuilder("{");
    for (int i = 0; i < 1 << 14; i++) {
      body.append(i == 0 ? "\"" : ",\"");
      for (int bit = 0; bit < 14; bit++) {
        body.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      body.append("\":0");
    }
    for (int i = 0; i < 3; i++) {
      assertEquals(200, bridge.call("echo", body + "}").status());
    }
    assertEquals(422, bridge.call("sleep", "{\"anything\":1}").status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", "application/json", "application/x-www-form-urlencoded"})
  void anEmptyBodyMeansNoArgumentsForAnyMediaType(String type) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(bridge.uri("/servers/s/tools/echo"))
            .header("content-type", type)
            .POST(HttpRequest.BodyPublishers.noBody())
            .build();

    HttpResponse<String> answer =
        bridge.client().send(request, HttpResponse.BodyHandlers.ofString());

    assertEquals(200, answer.statusCode(), answer.body());
    assertTrue(answer.body().contains("\"structuredContent\":{}"), answer.body());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/jsonx"
      })
  void unsupportedMediaTypesNeverReachATool(String type) throws Exception {
    for (String path : List.of("/servers/s/tools/echo", "/mcp", "/servers/s/mcp", "/toolcall")) {
      HttpRequest request =
          HttpRequest.newBuilder(bridge.uri(path))
              .header("content-type", type)
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build();

      assertEquals(
          415,
          bridge.client().send(request, HttpResponse.BodyHandlers.ofString()).statusCode(),
          path);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/nope,404",
    "/servers/,404",
    "//servers,404",
    "/Servers,404",
    "/servers/../health,400",
    "/servers/%2e%2e/health,400",
    "/servers/s%00/tools,400",
    "/servers/%zz/tools,400",
    "/servers/none/tools,404",
    "/servers/none/resources/x,404",
    "/servers/%252e%252e/health,404",
    "/servers/s%5ctools,404",
    "/servers/s;x/tools,404",
    "/servers/..%2f/tools,404",
    "/servers/a%0d%0ab/tools,404",
    "/servers/s/tools/../tools,400",
    "/calls/nope,404",
    "/confirmations/nope,404"
  })
  void invalidAndUnknownPathsAreRejected(String path, int status) throws Exception {
    String answer =
        raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

    assertStatus(status, answer);
    assertTrue(answer.contains("application/problem+json"), answer);
  }

  @Test
  void headIsSupportedOnlyForReadingRoutes() throws Exception {
    String answer = raw("HEAD /servers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertStatus(200, answer);
    assertTrue(answer.endsWith("\r\n\r\n"), answer);
    assertStatus(405, raw("HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  }

  @Test
  void unsupportedMethodsAre405() throws Exception {
    for (String method : new String[] {"PATCH", "TRACE", "FOO", "PUT", "OPTIONS"}) {
      String answer =
          raw(method + " /servers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      assertStatus(405, answer);
      assertTrue(answer.toLowerCase(java.util.Locale.ROOT).contains("allow: get, post"), answer);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET /servers HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /servers HTTP/1.1\r\nHost: 127.0.0.1/health?x=\r\nConnection: close\r\n\r\n",
        "GET http://evil.example/servers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "POST /servers/s/tools/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
            + " application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST /servers/s/tools/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
            + " application/json\r\nContent-Length: +2\r\n\r\n{}",
        "POST /servers/s/tools/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
            + " application/json\r\nTransfer-Encoding: chunked\r\n\r\nG\r\n{}\r\n0\r\n\r\n",
        "POST /servers/s/tools/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
            + " application/json\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
        "POST /servers/s/tools/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
            + " application/json\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        CALL + JSON + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        CALL + JSON + "Content-Length: 2,2\r\n\r\n{}",
        CALL + JSON + "Content-Length: -1\r\n\r\n{}",
        CALL + JSON + "Content-Length: 0x2\r\n\r\n{}",
        CALL + JSON + "Transfer-Encoding: chunked\u000b\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        CALL
            + JSON
            + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "2\r\n{}\r\n0\r\n\r\n",
        "GET /servers HTTP/1.1\r\nHost: a#b\r\nConnection: close\r\n\r\n",
        CALL + JSON + "Content-Length: 2 2\r\n\r\n{}",
        CALL + JSON + "Content-Length: 99999999999999999999\r\n\r\n{}",
        CALL + JSON + "Transfer-Encoding: identity\r\n\r\n{}",
        CALL + JSON + "Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        CALL
            + JSON
            + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
            + "2\r\n{}\r\n0\r\n\r\n",
        CALL + JSON + "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
        "GET /servers HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n",
        "GET /servers HTTP/1.1\r\nHost: localhost\r\n: y\r\n\r\n",
        CALL + JSON + "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n",
        "GET /servers HTTP/1.1\r\nHost: localhost\r\nX: a\u0000b\r\n\r\n",
      })
  void ambiguousFramingIs400(String request) throws Exception {
    String answer = raw(request);

    assertStatus(400, answer);
    assertFalse(answer.contains("<html"), answer);
  }

  /** RFC 9112 section 5.2: a line that begins with a space goes on with the value before it. */
  @Test
  void foldedLinesAreNoHeaders() throws Exception {
    String fold = "X: a\r\n Content-Length: 40\r\n\tTransfer-Encoding: chunked\r\n";

    String answer = raw(CALL + JSON + fold + "Content-Length: 2\r\nConnection: close\r\n\r\n{}");

    assertStatus(200, answer);
    assertEquals(1, RawHttp.responses(answer), answer);
  }

  @Test
  void noTunnelIsOpened() throws Exception {
    assertStatus(
        404, raw("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  }

  @Test
  void headersThatNameAnotherMethodOrProtocolChangeNothing() throws Exception {
    String answer =
        raw(
            "GET /servers/s HTTP/1.1\r\nHost: localhost\r\nX-HTTP-Method-Override: DELETE\r\n"
                + "X-HTTP-Method: DELETE\r\nX-Method-Override: DELETE\r\n"
                + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                + "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n"
                + "GET /servers/s?_method=DELETE HTTP/1.1\r\nHost: localhost\r\n"
                + "Connection: close\r\n\r\n");

    assertStatus(200, answer);
    assertEquals(2, RawHttp.responses(answer), answer);
    assertTrue(answer.contains("\"ready\""), answer);
    assertFalse(answer.contains("101 "), answer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"__proto__", "constructor", "toString", "%E2%80%AEx", "a%0d%0aINFO%20x", "-rf"})
  void namesOfNoToolAre404(String tool) throws Exception {
    assertEquals(404, bridge.post("/servers/s/tools/" + tool, "{}").status());
  }

  @Test
  void noRequestIsSmuggledBehindAnAmbiguousOne() throws Exception {
    String answer =
        raw(
            CALL
                + JSON
                + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
                + "GET /servers HTTP/1.1\r\nHost: localhost\r\n\r\n");

    assertStatus(400, answer);
    assertEquals(1, RawHttp.responses(answer), answer);
  }

  @Test
  void anInvalidRequestAmongOthersEndsTheConnectionAfterItsAnswer() throws Exception {
    String live = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";

    String answer = raw(live + "GET /x HTTP/1.1\r\nHost : z\r\n\r\n" + live);

    assertStatus(200, answer);
    assertEquals(2, RawHttp.responses(answer), answer);
    assertTrue(answer.contains("malformed_request"), answer);
  }

  @Test
  void connectionIsKeptAfterAFailureWithoutABody() throws Exception {
    String failing =
        "GET /servers/x HTTP/1.1\r\nHost: localhost\r\n\r\n"
            + "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
            + "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";

    String last = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    String answer = raw(failing.repeat(100) + last);

    assertEquals(301, RawHttp.responses(answer), answer);
    assertTrue(answer.endsWith("{\"status\":\"ok\"}"), answer);
  }

  @Test
  void thousandPipelinedRequestsAreAnsweredInOrderUpToAnInvalidOne() throws Exception {
    StringBuilder requests = new StringBuilder();
    for (int i = 0; i < 1_000; i++) {
      String host = i == 990 ? "Host : localhost" : "Host: localhost";
      requests.append("GET /servers/x").append(i).append(" HTTP/1.1\r\n" + host + "\r\n\r\n");
    }

    String answer = raw(requests.toString());

    assertEquals(991, RawHttp.responses(answer), answer);
    int last = -1;
    for (int i = 0; i < 990; i++) {
      int place = answer.indexOf("'x" + i + "'");
      assertTrue(place > last, "x" + i);
      last = place;
    }
    assertTrue(answer.indexOf("malformed_request") > last);
  }

  @Test
  void bodiesThatAreNotPlainJsonInUtf8AreRejected() throws Exception {
    String end = "Connection: close\r\n\r\n";

    assertStatus(
        415, raw(CALL + JSON + "Content-Encoding: gzip\r\nContent-Length: 2\r\n" + end + "{}"));
    for (String coding : List.of("br", "x", "gzip, identity")) {
      assertStatus(
          415,
          raw(
              CALL
                  + JSON
                  + "Content-Encoding: "
                  + coding
                  + "\r\nContent-Length: 2\r\n"
                  + end
                  + "{}"));
    }
    assertStatus(415, raw(CALL + "Content-Length: 2\r\n" + end + "{}"));
    assertStatus(400, raw(CALL + JSON + "Content-Length: 9\r\n" + end + "{\"a\":\"\u00ff\"}"));
  }

  @Test
  void twoOriginsAreRefused() throws Exception {
    assertStatus(
        403,
        raw(
            CALL
                + JSON
                + "Origin: http://localhost\r\nOrigin: http://evil.example\r\n"
                + "Content-Length: 2\r\nConnection: close\r\n\r\n{}"));
  }

  @Test
  void garbageBytesAreRejectedOrTheConnectionIsClosed() throws Exception {
    for (String bytes :
        new String[] {
          "\u0016\u0003\u0001\u0002\u0000\u0001",
          "\u0000\u0001\u000b\r\n\r\n",
          "GET / HTTP/9.9\r\n\r\n",
          "GET /servers HTTP/1.1x\r\nHost: localhost\r\n\r\n",
          "GET /servers http/1.1\r\nHost: localhost\r\n\r\n",
          "hello\r\n\r\n",
          "GET /\r\n",
          "\u00e9\u0011\u00fe\u007f~\u0003\u00c3(".repeat(8) + "\r\n\r\n"
        }) {
      String answer = raw(bytes);
      assertTrue(answer.isEmpty() || !answer.startsWith("HTTP/1.1 2"), answer);
    }
  }

  @Test
  void oversizedRequestsHaveASpecificStatus() throws Exception {
    assertStatus(414, raw("GET /" + "x".repeat(9000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assertStatus(
        431,
        raw("GET /servers HTTP/1.1\r\nHost: localhost\r\nX: " + "y".repeat(20_000) + "\r\n\r\n"));
    assertStatus(
        431,
        raw("GET /servers HTTP/1.1\r\nHost: localhost\r\n" + "X: abc\r\n".repeat(5_000) + "\r\n"));
    String longOrigin = "Origin: http://" + "z".repeat(10_000) + "\r\n";
    assertStatus(
        403,
        raw(
            "GET /servers HTTP/1.1\r\nHost: localhost\r\n"
                + longOrigin
                + "Connection: close\r\n\r\n"));
    assertStatus(
        414,
        raw("GET /tools?cursor=" + "x".repeat(20_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assertStatus(
        413, raw(CALL + JSON + "Content-Length: 999999999\r\nExpect: 100-continue\r\n\r\n"));
    assertStatus(417, raw(CALL + JSON + "Content-Length: 2\r\nExpect: x\r\n\r\n{}"));
  }

  @Test
  void slowHeadsAndBodiesTimeOut() throws Exception {
    assertStatus(
        408,
        RawHttp.untilClosed(bridge.port(), CALL + JSON + "Content-Length: 1000\r\n\r\n{\"a\":1"));
    assertEquals("", RawHttp.untilClosed(bridge.port(), "GET /servers HTTP/1.1\r\nHost: loc"));
  }

  @ParameterizedTest
  @CsvSource({
    "evil.example,", "localhost.evil.example,", "127.0.0.1.nip.io:3000,",
    "localhost,http://evil.example", "localhost,null", "localhost,http://localhost.evil.example"
  })
  void foreignHostsAndOriginsNeverReachATool(String host, String origin) throws Exception {
    for (String path : List.of("/servers/s/tools/echo", "/mcp", "/toolcall", "/batch")) {
      assertIsForeign(path, host, origin);
    }
  }

  private static void assertIsForeign(String path, String host, String origin) throws Exception {
    String answer =
        raw(
            "POST "
                + path
                + " HTTP/1.1\r\nHost: "
                + host
                + "\r\n"
                + JSON
                + (origin == null ? "" : "Origin: " + origin + "\r\n")
                + "Connection: close\r\nContent-Length: 2\r\n\r\n{}");

    assertStatus(403, answer);
    assertFalse(answer.toLowerCase(java.util.Locale.ROOT).contains("access-control"), answer);
  }

  @Test
  void aPageOfTheBridgeMayCall() throws Exception {
    String host = "localhost:" + bridge.port();

    String answer =
        raw(
            "POST /servers/s/tools/echo HTTP/1.1\r\nHost: "
                + host
                + "\r\n"
                + JSON
                + "Origin: http://"
                + host
                + "\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");

    assertStatus(200, answer);
  }

  private static String nested(int depth) {
    return "{\"a\":" + "[".repeat(depth - 1) + "]".repeat(depth - 1) + "}";
  }

  private static String raw(String request) throws IOException {
    return RawHttp.exchange(bridge.port(), request);
  }
}
