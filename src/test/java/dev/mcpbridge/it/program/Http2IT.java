package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.Http2Wire;
import dev.mcpbridge.fixture.Http2Wire.Frame;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP/2 over TLS: many requests over one connection, and what a client can do with frames. */
@Tag("program")
class Http2IT {
  private static final int OPEN = (1 << 31) - 1;
  private static final int LARGE = 3_200_000;
  private static final byte[] NOTHING = {};
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @TempDir static Path folder;
  private static Path certificate;
  private static SSLContext trust;

  private TestBridge bridge;
  private HttpClient client;

  @BeforeAll
  static void certify() throws Exception {
    Authority authority = Authority.create(folder.resolve("ca"));
    certificate = authority.certificateFiles("tls", "dns:localhost,ip:127.0.0.1");
    trust = authority.client(false);
  }

  private void start(String http) throws Exception {
    start(http, "'heldBytes':67108864");
  }

  private void start(String http, String limits) throws Exception {
    bridge =
        TestBridge.of(
            "{'http':{'tls':{'cert':'%s','key':'%s'}%s},'limits':{%s},'mcpServers':{'s':%s}}"
                .formatted(
                    certificate.resolve("cert.pem"),
                    certificate.resolve("key.pem"),
                    http,
                    limits,
                    TestBridge.entry("")));
    client = HttpClient.newBuilder().sslContext(trust).build();
    bridge.until(() -> get("/servers/s").body().contains("\"state\":\"ready\""));
  }

  @AfterEach
  void isAliveAndHoldsNothing() throws Exception {
    bridge.until(() -> held() == 0);
    assertEquals(200, call("echo", "{}").statusCode());
    bridge.close();
  }

  /** A request that meets the end of an idle connection is sent again. */
  private HttpResponse<String> get(String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(uri(path)).timeout(TIMEOUT).build();
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (HttpTimeoutException late) {
      throw late;
    } catch (IOException closed) {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
  }

  private HttpResponse<String> call(String tool, String arguments) throws Exception {
    return client.send(calling(tool, arguments), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest calling(String tool, String arguments) {
    return HttpRequest.newBuilder(uri("/servers/s/tools/" + tool))
        .timeout(TIMEOUT)
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(arguments))
        .build();
  }

  private URI uri(String path) {
    return URI.create("https://localhost:" + bridge.port() + path);
  }

  private double held() throws Exception {
    return MetricsText.heldBytes(get("/metrics").body());
  }

  private int pending() throws Exception {
    return Json.tree(get("/servers/s").body().getBytes(StandardCharsets.UTF_8))
        .path("pending_calls")
        .asInt();
  }

  private Http2Wire wire(int window) throws IOException {
    return Http2Wire.connect(bridge.port(), trust, window);
  }

  private static void post(Http2Wire wire, int stream, String tool, String arguments)
      throws IOException {
    wire.request(stream, 0, "POST", "/servers/s/tools/" + tool, "content-type", "application/json");
    byte[] body = arguments.getBytes(StandardCharsets.UTF_8);
    wire.send(Http2Wire.DATA, Http2Wire.END_STREAM, stream, body);
  }

  @Test
  void clientsGetHttp2OverTlsAndHttp1IfTheyWant() throws Exception {
    start("");
    HttpClient older =
        HttpClient.newBuilder().sslContext(trust).version(HttpClient.Version.HTTP_1_1).build();

    assertEquals(HttpClient.Version.HTTP_2, get("/servers").version());
    assertEquals(
        HttpClient.Version.HTTP_1_1,
        older
            .send(
                HttpRequest.newBuilder(uri("/servers")).build(),
                HttpResponse.BodyHandlers.ofString())
            .version());
  }

  @Test
  void largeBodiesPassBothWays() throws Exception {
    start("");
    String text = "x".repeat(LARGE);

    HttpResponse<String> echoed = call("echo", "{\"m\":\"" + text + "\"}");
    HttpResponse<String> big = call("big", "{\"size\":" + LARGE + "}");

    assertEquals(200, echoed.statusCode());
    assertTrue(echoed.body().contains(text));
    assertEquals(
        Integer.toString(big.body().length()),
        big.headers().firstValue("content-length").orElseThrow());
    assertTrue(big.body().length() > LARGE);
  }

  @Test
  void manyStreamsAndCallsShareAConnection() throws Exception {
    start("");
    List<CompletableFuture<HttpResponse<InputStream>>> streams = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      HttpRequest events =
          HttpRequest.newBuilder(uri("/events")).header("accept", "text/event-stream").build();
      streams.add(client.sendAsync(events, HttpResponse.BodyHandlers.ofInputStream()));
    }
    List<BufferedReader> readers = new ArrayList<>();
    for (CompletableFuture<HttpResponse<InputStream>> stream : streams) {
      readers.add(new BufferedReader(new InputStreamReader(stream.get().body())));
      assertEquals(": open", readers.get(readers.size() - 1).readLine());
    }
    List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      calls.add(
          client.sendAsync(calling("sleep", "{\"ms\":50}"), HttpResponse.BodyHandlers.ofString()));
    }

    for (CompletableFuture<HttpResponse<String>> call : calls) {
      assertEquals(200, call.get().statusCode());
    }
    for (BufferedReader reader : readers) {
      reader.close();
    }
  }

  @Test
  void aResponseThatIsNotReadIsCountedAndCutOff() throws Exception {
    start(",'idleTimeout':2");
    try (Http2Wire wire = wire(0)) {
      post(wire, 1, "big", "{\"size\":" + LARGE + "}");
      post(wire, 3, "echo", "{}");
      bridge.until(() -> held() > LARGE);
      wire.send(Http2Wire.PING, 0, 0, new byte[8]);

      Frame reset = wire.await(Http2Wire.RST_STREAM, 1);

      assertNotNull(reset);
      assertNotNull(wire.await(Http2Wire.RST_STREAM, 3));
      bridge.until(() -> held() == 0);
      wire.request(5, Http2Wire.END_STREAM, "GET", "/health/live");
      assertNotNull(wire.await(Http2Wire.HEADERS, 5));
    }
  }

  @Test
  void aClientThatLeavesReleasesItsResponses() throws Exception {
    start("");
    try (Http2Wire wire = wire(100_000)) {
      for (int stream = 1; stream < 10; stream += 2) {
        post(wire, stream, "big", "{\"size\":" + LARGE + "}");
      }
      bridge.until(() -> held() > 3 * LARGE);
      wire.send(Http2Wire.RST_STREAM, 0, 1, new byte[] {0, 0, 0, 8});
      bridge.until(() -> held() < 5 * LARGE);
    }

    bridge.until(() -> held() == 0);
  }

  @Test
  void anEventStreamThatIsNotReadEndsAlone() throws Exception {
    start("");
    try (Http2Wire wire = wire(2_000)) {
      wire.request(1, Http2Wire.END_STREAM, "GET", "/sse", "accept", "text/event-stream");
      String text = "";
      while (!text.contains("sessionId=") || !text.endsWith("\n\n")) {
        text += new String(wire.await(Http2Wire.DATA, 1).payload(), StandardCharsets.UTF_8);
      }
      String address = text.substring(text.indexOf("/sse?")).strip();
      send(
          address,
          "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\","
              + "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}");
      for (int i = 1; i <= 5; i++) {
        send(
            address,
            "\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"s__big\",\"arguments\":{\"size\":600000}}"
                .formatted(i));
      }

      assertNotNull(wire.await(Http2Wire.RST_STREAM, 1));
      wire.request(3, Http2Wire.END_STREAM, "GET", "/health/live");
      assertNotNull(wire.await(Http2Wire.HEADERS, 3));
    }
  }

  private void send(String address, String members) throws Exception {
    HttpRequest message =
        HttpRequest.newBuilder(uri(address))
            .timeout(TIMEOUT)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"jsonrpc\":\"2.0\"," + members + "}"))
            .build();
    client.send(message, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aServerThatDiesMidCallFailsItsCallsAndNotTheConnection() throws Exception {
    start("");
    try (Http2Wire wire = wire(OPEN)) {
      post(wire, 1, "never", "{}");
      bridge.until(() -> pending() == 1);
      post(wire, 3, "exit", "{\"code\":1}");

      for (int stream : new int[] {1, 3}) {
        String lost =
            new String(wire.await(Http2Wire.DATA, stream).payload(), StandardCharsets.UTF_8);
        assertTrue(lost.contains("\"executed\":\"unknown\""), lost);
      }
      bridge.until(() -> get("/servers/s").body().contains("\"state\":\"ready\""));
      post(wire, 5, "echo", "{}");
      assertNotNull(wire.await(Http2Wire.DATA, 5));
    }
  }

  @Test
  void withoutMemoryForResponsesCallsAreRefused() throws Exception {
    start("", "'heldBytes':4194304");
    try (Http2Wire wire = wire(0)) {
      post(wire, 1, "big", "{\"size\":" + LARGE + "}");
      bridge.until(() -> held() > LARGE);

      HttpResponse<String> refused = call("echo", "{}");

      assertEquals(503, refused.statusCode(), refused.body());
      assertTrue(refused.body().contains("overloaded"), refused.body());
    }
  }

  @Test
  void aBodyThatDoesNotArriveEndsItsRequestOnly() throws Exception {
    start(",'bodyTimeout':1");
    try (Http2Wire wire = wire(OPEN)) {
      wire.request(1, 0, "POST", "/servers/s/tools/echo", "content-type", "application/json");
      wire.send(Http2Wire.DATA, 0, 1, "{".getBytes(StandardCharsets.UTF_8));

      Frame answer = wire.await(Http2Wire.HEADERS, 1);

      assertNotNull(answer);
      byte[] rest = "\"m\":1}".getBytes(StandardCharsets.UTF_8);
      wire.send(Http2Wire.DATA, Http2Wire.END_STREAM, 1, rest);
      post(wire, 3, "echo", "{}");
      assertNotNull(wire.await(Http2Wire.HEADERS, 3));
      assertEquals(
          1,
          MetricsText.values(
                  get("/metrics").body(),
                  "mcp_bridge_calls_total{outcome=\"answered\",server=\"s\"}")
              .sum());
    }
  }

  @Test
  void bodiesOfUnknownLengthAreCountedUntilTheyAreKnown() throws Exception {
    start("", "'heldBytes':9000000");
    try (Http2Wire wire = wire(OPEN)) {
      for (int stream = 1; stream < 20; stream += 2) {
        wire.request(
            stream, 0, "POST", "/servers/s/tools/echo", "content-type", "application/json");
      }
      String refused = new String(wire.await(Http2Wire.DATA, 19).payload(), StandardCharsets.UTF_8);
      assertTrue(refused.contains("Not enough memory for a body"), refused);

      byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
      wire.send(Http2Wire.DATA, Http2Wire.END_STREAM, 1, body);
      assertNotNull(wire.await(Http2Wire.DATA, 1));
    }
    assertEquals(200, call("echo", "{}").statusCode());
  }

  @Test
  void aFloodOfResetsEndsTheConnectionAndItsCalls() throws Exception {
    start("");
    try (Http2Wire wire = wire(OPEN)) {
      try {
        for (int i = 0; i < 2_000; i++) {
          post(wire, 2 * i + 1, "never", "{}");
          wire.send(Http2Wire.RST_STREAM, 0, 2 * i + 1, new byte[] {0, 0, 0, 8});
        }
      } catch (IOException closed) {
        // the connection was ended
      }

      assertEquals(200, call("echo", "{}").statusCode());
      assertTrue(wire.isEnded());
    }
    bridge.until(() -> pending() == 0);
  }

  @Test
  void aFloodOfContinuationsEndsTheConnection() throws Exception {
    start("");
    try (Http2Wire wire = wire(OPEN)) {
      boolean isEnded = false;
      try {
        wire.send(Http2Wire.HEADERS, 0, 1, wire.head("GET", "/servers"));
        for (int i = 0; i < 5_000; i++) {
          wire.send(Http2Wire.CONTINUATION, 0, 1, NOTHING);
        }
      } catch (IOException closed) {
        isEnded = true;
      }

      assertTrue(isEnded || wire.isEnded());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Http2Wire.PING, Http2Wire.SETTINGS})
  void aFloodOfControlFramesThatAreNotReadEndsTheConnection(int type) throws Exception {
    start("");
    byte[] payload = type == Http2Wire.PING ? new byte[8] : NOTHING;
    boolean isEnded = false;
    try (Http2Wire wire = wire(OPEN)) {
      for (int i = 0; i < 5_000_000 && !isEnded; i++) {
        wire.send(type, 0, 0, payload);
      }
    } catch (IOException closed) {
      isEnded = true;
    }

    assertTrue(isEnded);
  }

  @Test
  void moreStreamsThanAllowedAreRefused() throws Exception {
    start("");
    try (Http2Wire wire = wire(OPEN)) {
      for (int i = 0; i <= 250; i++) {
        post(wire, 2 * i + 1, "never", "{}");
      }

      Frame refused = wire.await(Http2Wire.RST_STREAM, 501);

      assertEquals(7, refused.payload()[3]);
      assertEquals(200, call("echo", "{}").statusCode());
    }
    bridge.until(() -> pending() == 0);
  }

  @Test
  void aHeadThatIsTooLargeIsRefused() throws Exception {
    start("");
    try (Http2Wire wire = wire(OPEN)) {
      wire.send(
          Http2Wire.HEADERS,
          Http2Wire.END_STREAM,
          1,
          wire.head("GET", "/servers", "x-a", "a".repeat(15_000)));
      wire.send(Http2Wire.CONTINUATION, Http2Wire.END_HEADERS, 1, field());

      Frame answer = wire.next();
      while (answer != null && answer.stream() != 1 && answer.type() != Http2Wire.GOAWAY) {
        answer = wire.next();
      }

      boolean isServed = answer != null && answer.type() == Http2Wire.DATA;
      assertFalse(isServed);
    }
  }

  private static byte[] field() {
    byte[] field = new byte[10_000 + 8];
    byte[] start = {0, 3, 'x', '-', 'b', 127, (byte) (9_873 % 128 + 128), (byte) (9_873 / 128)};
    System.arraycopy(start, 0, field, 0, start.length);
    Arrays.fill(field, start.length, field.length, (byte) 'b');
    return field;
  }

  @Test
  void hostAndOriginAreCheckedAsOverHttp1() throws Exception {
    start("");
    try (Http2Wire wire = wire(OPEN)) {
      wire.request(1, Http2Wire.END_STREAM, "GET", "/servers", "origin", "https://evil.example");
      String refused = new String(wire.await(Http2Wire.DATA, 1).payload(), StandardCharsets.UTF_8);
      assertTrue(refused.contains("origin_not_allowed"), refused);

      wire.request(3, Http2Wire.END_STREAM, "GET", "/servers", "host", "evil.example");
      Frame second = wire.next();
      while (second != null
          && (second.stream() != 3
              || second.type() != Http2Wire.DATA && second.type() != Http2Wire.RST_STREAM)) {
        second = wire.next();
      }
      String text = second == null ? "" : new String(second.payload(), StandardCharsets.UTF_8);
      assertFalse(text.contains("\"servers\""), text);
    }
  }

  @ParameterizedTest
  @CsvSource({
    ":method,CONNECT,:authority,localhost",
    ":method,GET,:scheme,https,:authority,localhost",
    ":method,GET,:scheme,https,:authority,localhost,:path,",
    ":method,GET,:scheme,https,:path,/servers",
    ":method,GET,:scheme,https,:authority,localhost,:path,*",
    ":method,GET,:scheme,https,:authority,localhost,:path,/servers,connection,close"
  })
  void anIncompleteHeadIsNotServed(ArgumentsAccessor head) throws Exception {
    start("");
    String[] fields =
        Arrays.stream(head.toArray()).map(text -> text == null ? "" : text).toArray(String[]::new);
    try (Http2Wire wire = wire(OPEN)) {
      wire.send(
          Http2Wire.HEADERS,
          Http2Wire.END_HEADERS | Http2Wire.END_STREAM,
          1,
          Http2Wire.fields(fields));

      Frame answer = wire.next();
      while (answer != null && answer.stream() != 1 && answer.type() != Http2Wire.GOAWAY) {
        answer = wire.next();
      }
      while (answer != null && answer.type() == Http2Wire.HEADERS) {
        answer = wire.next();
      }

      String text = answer == null ? "" : new String(answer.payload(), StandardCharsets.UTF_8);
      assertFalse(text.contains("\"servers\":"), text);
    }
  }

  @Test
  void anIdleConnectionIsClosed() throws Exception {
    start(",'idleTimeout':1,'headTimeout':1");
    try (Http2Wire unused = wire(OPEN);
        Http2Wire used = wire(OPEN)) {
      used.request(1, Http2Wire.END_STREAM, "GET", "/health/live");
      assertNotNull(used.await(Http2Wire.HEADERS, 1));

      assertTrue(unused.isEnded());
      assertTrue(used.isEnded());
    }
  }
}
