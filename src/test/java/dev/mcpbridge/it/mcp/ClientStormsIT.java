package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** MCP clients in large numbers, that disconnect during calls, or that read slowly. */
@Tag("mcp")
class ClientStormsIT {
  private static final int STREAMS = 16;
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
          + "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{}}}";

  private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    bridge =
        TestBridge.of(
                "{'http':{'maxStreams':%s},'mcpServers':{'s':%s}}"
                    .formatted(STREAMS, TestBridge.entry("'maxInFlight':500")))
            .awaitReady("s");
  }

  @AfterEach
  void noCallIsPending() throws Exception {
    bridge.until(() -> pendingCalls() == 0);
    bridge.assertAlive();
    bridge.close();
  }

  /** The clients that disconnect during a call. */
  private enum Client {
    REST("/servers/s/tools/never", "{}"),
    STATELESS(
        "/servers/s/mcp",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"never\","
            + "\"arguments\":{},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
            + "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: never"),
    SESSION(
        "/servers/s/mcp",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"sleep\","
            + "\"arguments\":{\"ms\":3000}}}");

    private final String path;
    private final String body;
    private final String[] headers;

    Client(String path, String body, String... headers) {
      this.path = path;
      this.body = body;
      this.headers = headers;
    }
  }

  private McpClient session() throws Exception {
    return new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
  }

  private int pendingCalls() throws Exception {
    JsonNode server = bridge.get("/servers/s").body();
    return server.path("pending_calls").asInt() + server.path("queued_calls").asInt();
  }

  @Test
  void aNewStreamOfASessionReplacesThePreviousOne() throws Exception {
    McpClient client = session();
    List<BufferedReader> streams = new ArrayList<>();

    for (int i = 0; i < 200; i++) {
      streams.add(client.listen());
    }

    CompletableFuture<JsonNode> notification = McpClient.nextLater(streams.get(199));
    assertEquals("grown", client.call("grow", "{}").firstText());
    assertEquals(
        "notifications/tools/list_changed",
        notification.get(20, TimeUnit.SECONDS).path("method").asText());
    for (BufferedReader replaced : streams.subList(0, 199)) {
      assertTrue(replaced.lines().noneMatch(line -> line.startsWith("data: {")));
    }
    assertEquals(204, client.delete());
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void disconnectedClientsLeaveNoCallsPending(Client kind) throws Exception {
    String session = kind == Client.SESSION ? "\r\nMcp-Session-Id: " + session().session() : "";
    byte[] request =
        ("POST "
                + kind.path
                + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + "Accept: application/json, text/event-stream\r\n"
                + String.join("\r\n", kind.headers)
                + (kind.headers.length > 0 ? "\r\n" : "")
                + "Content-Length: "
                + kind.body.length()
                + session
                + "\r\n\r\n"
                + kind.body)
            .getBytes(StandardCharsets.UTF_8);

    for (int wave = 0; wave < 4; wave++) {
      List<Socket> clients = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), bridge.port());
        clients.add(client);
        client.getOutputStream().write(request);
      }
      bridge.until(() -> pendingCalls() > 0);
      for (Socket client : clients) {
        client.close();
      }
      bridge.until(() -> pendingCalls() == 0);
      bridge.assertAlive();
    }

    assertEquals(0, bridge.get("/servers/s").body().path("restarts").asInt());
  }

  @Test
  void streamsOfDisconnectedClientsAreReleased() throws Exception {
    for (int wave = 0; wave < 5; wave++) {
      List<Stream> streams = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        streams.add(new Stream());
      }
      assertEquals(503, bridge.get("/servers/s/sse", "accept", "text/event-stream").status());
      for (Stream stream : streams) {
        stream.close();
      }
      bridge.until(
          () -> {
            try {
              new Stream().close();
              return true;
            } catch (IOException refused) {
              return false;
            }
          });
    }
  }

  @Test
  void aSlowReaderIsDisconnectedAndOthersContinue() throws Exception {
    try (Stream slow = new Stream();
        Stream other = new Stream()) {
      slow.post(INITIALIZE);
      other.post(INITIALIZE);
      other.answer();

      bridge.until(
          () ->
              slow.post(
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                          + "{\"name\":\"big\",\"arguments\":{\"size\":1000000}}}")
                  == 404);

      assertEquals(202, other.post("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"));
      assertEquals(7, other.answer().path("id").asInt());
    }
  }

  @Test
  void cancellationsOfUnknownRequestsAreIgnored() throws Exception {
    McpClient client = session();
    McpClient other = session();
    CompletableFuture<Reply> running = Background.call(() -> call(other, "sleep", "{\"ms\":3000}"));
    bridge.until(() -> pendingCalls() == 1);

    try (Socket pipe = new Socket(InetAddress.getLoopbackAddress(), bridge.port())) {
      CompletableFuture<Void> sent =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  cancel(pipe, client.session(), i % 2 == 0 ? "" + i : "\"" + i + "\"");
                }
              });
      BufferedReader in =
          new BufferedReader(new InputStreamReader(pipe.getInputStream(), StandardCharsets.UTF_8));
      for (int accepted = 0; accepted < 10_000; ) {
        String line = in.readLine();
        assertFalse(line.startsWith("HTTP/1.1") && !line.contains(" 202 "), line);
        accepted += line.startsWith("HTTP/1.1") ? 1 : 0;
      }
      sent.get(20, TimeUnit.SECONDS);
    }

    assertEquals("0", client.call("cancels", "{}").firstText());
    assertEquals("slept", running.get(20, TimeUnit.SECONDS).firstText());
  }

  @Test
  void requestsWithOneIdInASessionGetTheirOwnResults() throws Exception {
    McpClient client = session();
    Object[] ids = {7, 7, "\"7\""};
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < ids.length; i++) {
      String request = request(ids[i], "meet", "{\"calls\":3,\"own\":" + i + "}");
      replies.add(Background.call(() -> client.post(request)));
    }

    for (int i = 0; i < ids.length; i++) {
      Reply reply = replies.get(i).get(20, TimeUnit.SECONDS);
      assertEquals("number " + i, reply.firstText(), reply.toString());
      assertEquals(String.valueOf(ids[i]), reply.last().get("id").toString());
    }
  }

  @Test
  void aLateResponseToACancelledRequestIsDiscarded() throws Exception {
    McpClient client = session();
    McpClient other = session();
    for (int i = 0; i < 10; i++) {
      CompletableFuture<Reply> cancelled =
          Background.call(() -> client.post(request(9, "meet", "{\"calls\":2}")));
      bridge.until(() -> pendingCalls() == 1);
      client.post(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
              + "{\"requestId\":9}}");
      CompletableFuture<Reply> later =
          Background.call(() -> client.post(request(9, "sleep", "{\"ms\":500}")));
      bridge.until(() -> pendingCalls() == 1 || later.isDone());
      Reply next = other.post(request(9, "meet", "{\"calls\":2,\"own\":" + (i + 1) + "}"));

      assertEquals("number " + (i + 1), next.firstText(), next.toString());
      assertEquals(499, cancelled.get(20, TimeUnit.SECONDS).errorCode());
      assertEquals("slept", later.get(20, TimeUnit.SECONDS).firstText());
    }
    assertEquals("10", client.call("cancels", "{}").firstText());
  }

  private static void cancel(Socket pipe, String session, String id) {
    String body =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
            + id
            + "}}";
    String head =
        "POST /servers/s/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Accept: application/json, text/event-stream\r\nMcp-Session-Id: "
            + session
            + "\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n";
    try {
      pipe.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String request(Object id, String tool, String arguments) {
    return """
        {"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}"""
        .formatted(id, tool, arguments);
  }

  private static Reply call(McpClient client, String tool, String arguments) throws Exception {
    return client.post(request(1, tool, arguments));
  }

  /** An HTTP+SSE client whose stream is read only on demand. */
  private final class Stream implements AutoCloseable {
    private final Socket socket = new Socket();
    private final BufferedReader in;
    private final String address;

    Stream() throws IOException {
      socket.setReceiveBufferSize(8192);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), bridge.port()));
      socket
          .getOutputStream()
          .write(
              ("GET /servers/s/sse HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                      + "Accept: text/event-stream\r\n\r\n")
                  .getBytes(StandardCharsets.UTF_8));
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8), 512);
      if (!in.readLine().contains("200")) {
        socket.close();
        throw new IOException("refused");
      }
      address = data();
    }

    int post(String message) throws Exception {
      return bridge.post(address, message).status();
    }

    JsonNode answer() throws IOException {
      return Json.mapper().readTree(data());
    }

    private String data() throws IOException {
      String line = in.readLine();
      while (line != null && !line.startsWith("data: ")) {
        line = in.readLine();
      }
      return String.valueOf(line).substring(6);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
