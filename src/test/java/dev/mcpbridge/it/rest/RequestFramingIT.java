package dev.mcpbridge.it.rest;

import static dev.mcpbridge.fixture.RawHttp.CALL;
import static dev.mcpbridge.fixture.RawHttp.JSON;
import static dev.mcpbridge.fixture.RawHttp.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.RawHttp;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages at the edges of HTTP/1.1 (RFC 9112), and clients that send endlessly or slowly. */
@Tag("rest")
class RequestFramingIT {
  private static final String CHUNKED = CALL + JSON + "Transfer-Encoding: chunked\r\n";
  private static final String LIVE = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n";
  private static final String LAST = "Connection: close\r\n\r\n";

  @AutoClose
  private static final TestBridge bridge =
      TestBridge.of(
              "{'http':{'bodyTimeout':2},'mcpServers':{'s':%s}}".formatted(TestBridge.entry("")))
          .awaitReady("s");

  @AfterEach
  void alive() throws Exception {
    bridge.assertAlive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2;x=y\r\n{}\r\n0\r\n\r\n",
        "2;x=\"a\\\"b;c\"\r\n{}\r\n0;last\r\n\r\n",
        "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        "2\r\n{}\r\n0\r\nX: y\r\n\r\n",
        "2\r\n{}\r\n0\r\nHost: evil.example\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\n\r\n"
      })
  void extensionsOfChunksAndTrailersChangeNothing(String body) throws Exception {
    String answer = RawHttp.exchange(bridge.port(), CHUNKED + LAST + body);

    assertStatus(200, answer);
    assertEquals(1, RawHttp.responses(answer), answer);
    assertTrue(answer.contains("\"structuredContent\":{}"), answer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2\n{}\n0\n\n",
        "2;x\n{}\r\n0\r\n\r\n",
        "2;x\r{}\r\n0\r\n\r\n",
        "2\r\n{}X\r\n0\r\n\r\n",
        "2\r\n{}\r\n0\r\nX : y\r\n\r\n",
        "2\r\n{}\r\n0\r\nX: a\u0000b\r\n\r\n"
      })
  void ambiguousChunksAre400AndEndTheConnection(String body) throws Exception {
    assertRefusedAlone(CHUNKED + "\r\n" + body);
  }

  @Test
  void longExtensionsAndTrailersEndTheConnection() throws Exception {
    String trailers =
        IntStream.range(0, 40)
            .mapToObj(i -> "X" + i + ": " + "y".repeat(900) + "\r\n")
            .collect(Collectors.joining());

    for (String body :
        List.of(
            "2;x=" + "y".repeat(20_000) + "\r\n{}\r\n0\r\n\r\n",
            "2;x=" + "y".repeat(1 << 20) + "\r\n{}\r\n0\r\n\r\n",
            "2\r\n{}\r\n0\r\n" + trailers)) {
      assertStatus(400, RawHttp.untilClosed(bridge.port(), CHUNKED + "\r\n" + body));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Content-Length: 2\r\n"})
  void transferEncodingOfHttp10Is400(String length) throws Exception {
    String head = CHUNKED.replace("HTTP/1.1", "HTTP/1.0") + length;

    assertRefusedAlone(head + "\r\n2\r\n{}\r\n0\r\n\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /health/live HTTP/1.1\nHost: localhost\n\n",
        "GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: a\rY: b\r\n\r\n",
        "GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: a\nY: b\r\n\r\n",
        "\u0000GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\u0001\u0002GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
      })
  void lineEndsOfOneCharacterAndControlCharactersAre400(String request) throws Exception {
    assertRefusedAlone(request);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Mcp-Session-Id", "Last-Event-ID", "X-API-Key", "Authorization"})
  void controlCharacterInAHeaderIs400(String header) throws Exception {
    assertRefusedAlone(LIVE + header + ": a\u0001b\r\n\r\n");
    assertRefusedAlone(LIVE + header + ": a\u0000b\r\n\r\n");
  }

  @Test
  void bodyWhoseLastLineEndIsMissingIsNotAnswered() throws Exception {
    String answer = RawHttp.untilClosed(bridge.port(), CHUNKED + "\r\n2\r\n{}\r\n0\r\n");

    assertEquals("408", answer.split(" ")[1], answer);
  }

  /** The connection ends after the refusal, without an answer to the request behind it. */
  private static void assertRefusedAlone(String request) throws IOException {
    String answer = RawHttp.untilClosed(bridge.port(), request + LIVE + LAST);

    assertStatus(400, answer);
    assertEquals(1, RawHttp.responses(answer), answer);
  }

  @Test
  void emptyLinesBeforeARequestAreSkipped() throws Exception {
    for (int lines : new int[] {1, 2, 1_000}) {
      assertStatus(200, RawHttp.exchange(bridge.port(), "\r\n".repeat(lines) + LIVE + LAST));
    }
  }

  @Test
  void addressesThatHeadersClaimAreIgnored() throws Exception {
    String[] headers = {
      "forwarded", "for=192.0.2.1;host=evil.example;proto=https",
      "x-forwarded-for", "192.0.2.1",
      "x-forwarded-host", "evil.example",
      "x-forwarded-proto", "https",
      "x-forwarded-prefix", "/evil.example",
      "x-original-url", "/evil.example",
      "x-rewrite-url", "/evil.example"
    };

    for (String path : List.of("/openapi.json", "/servers", "/")) {
      Answer answer = bridge.get(path, headers);
      assertEquals(bridge.get(path).status(), answer.status(), path);
      assertFalse(answer.text().contains("evil.example"), path);
    }
    Answer later =
        bridge.post(
            "/servers/s/tools/echo", "{}", McpClient.with(headers, "prefer", "respond-async"));
    assertEquals(202, later.status());
    assertFalse(later.header("location").contains("evil.example"), later.header("location"));
  }

  /** What is sent after the refusal is discarded for a short time (RFC 9112 section 9.6). */
  @Test
  void endlessBodyIs413AndEndsTheConnection() throws Exception {
    byte[] chunk = ("10000\r\n" + " ".repeat(1 << 16) + "\r\n").getBytes(StandardCharsets.US_ASCII);
    try (Socket socket = new Socket("127.0.0.1", bridge.port())) {
      OutputStream out = socket.getOutputStream();
      out.write((CHUNKED + "\r\n").getBytes(StandardCharsets.US_ASCII));
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);

      assertThrows(
          SocketException.class,
          () -> {
            while (System.nanoTime() < end) {
              out.write(chunk);
            }
          });
    }
    String answer =
        RawHttp.exchange(
            bridge.port(), CHUNKED + "\r\n500000\r\n" + "[".repeat(5 << 20) + "\r\n0\r\n\r\n");
    assertStatus(413, answer);
  }

  @Test
  void millionKeysAreRefusedAndAsManyAsFitArePassedOn() throws Exception {
    assertEquals(413, bridge.call("echo", keys(1_000_000)).status());
    assertEquals(200, bridge.call("echo", keys(300_000)).status());
  }

  private static String keys(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"k" + i + "\":0")
        .collect(Collectors.joining(",", "{", "}"));
  }

  /** Each sends a byte at a time, often enough that no pause is long. */
  @Test
  void clientsThatSendSingleBytesTimeOutAndOthersAreServed() throws Exception {
    List<Socket> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 200; i++) {
        Socket client = new Socket("127.0.0.1", bridge.port());
        clients.add(client);
        client.setSoTimeout(1);
        send(client, CALL + JSON + "Content-Length: 100000\r\n\r\n{");
      }
      List<Socket> open = new ArrayList<>(clients);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      int served = 0;
      while (!open.isEmpty() && System.nanoTime() < end) {
        open.removeIf(client -> !takesAnotherByte(client));
        assertEquals(200, bridge.call("echo", "{}").status());
        served++;
      }
      assertEquals(0, open.size(), "connections still open after 30 s");
      assertTrue(served > 1);
    } finally {
      for (Socket client : clients) {
        client.close();
      }
    }
  }

  private static boolean takesAnotherByte(Socket client) {
    try {
      send(client, " ");
      client.getInputStream().read();
      return false;
    } catch (SocketTimeoutException silent) {
      return true;
    } catch (IOException closed) {
      return false;
    }
  }

  private static void send(Socket client, String text) throws IOException {
    client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void nulIsDataOfATool() throws Exception {
    Answer answer = bridge.call("echo", "{\"text\":\"a\\u0000b\"}");

    assertTrue(
        answer.text().contains("\"structuredContent\":{\"text\":\"a\\u0000b\"}"), answer.text());
  }
}
