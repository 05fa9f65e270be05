package dev.mcpbridge.perf;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Memory of idle sessions: opens ten thousand sessions with a stream each and measures the growth
 * of the bridge's resident memory. Both processes need that many open files ({@code ulimit -n}).
 *
 * <p>Arguments: the bridge's jar, with its launcher next to it.
 */
public final class IdleSessions {
  private static final int WARM_UP_SESSIONS = 100;
  private static final int SESSIONS = 10_000;
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
          + "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}";
  private static final String ACCEPT = "Accept: application/json, text/event-stream\r\n";

  private final int port;
  private final List<Socket> open = new ArrayList<>();

  private IdleSessions(int port) {
    this.port = port;
  }

  public static void main(String[] args) throws Exception {
    String configuration =
        "{\"http\":{\"maxConnections\":20000,\"maxStreams\":20000},\"mcpServers\":{}}";
    try (BridgeProcess bridge = BridgeProcess.ofLauncher(args[0], configuration)) {
      IdleSessions sessions = new IdleSessions(bridge.port());
      sessions.open(WARM_UP_SESSIONS);
      long before = settledMemory(bridge);
      sessions.open(SESSIONS);
      long after = settledMemory(bridge);
      System.out.printf(
          Locale.ROOT,
          "%d idle sessions with a stream: %d MB before, %d MB after, %.1f kB each%n",
          SESSIONS,
          before >> 10,
          after >> 10,
          (after - before) / (double) SESSIONS);
    }
  }

  private void open(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      Socket socket = new Socket("127.0.0.1", port);
      open.add(socket);
      String response =
          send(
              socket,
              "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:"
                  + port
                  + "\r\nContent-Type: application/json\r\nContent-Length: "
                  + INITIALIZE.length()
                  + "\r\n"
                  + ACCEPT
                  + "\r\n"
                  + INITIALIZE,
              "serverInfo");
      String id = response.replaceAll("(?is).*mcp-session-id: (\\S+).*", "$1");
      String listen = "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nMcp-Session-Id: ";
      send(socket, listen + id + "\r\n" + ACCEPT + "\r\n", ": open");
    }
  }

  private static String send(Socket socket, String text, String until) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    InputStream in = socket.getInputStream();
    byte[] buffer = new byte[4096];
    StringBuilder received = new StringBuilder();
    while (received.indexOf(until) < 0) {
      int n = in.read(buffer);
      if (n < 0) {
        throw new IOException("the bridge closed the connection: " + received);
      }
      received.append(new String(buffer, 0, n, StandardCharsets.US_ASCII));
    }
    return received.toString();
  }

  /** Resident memory in kilobytes after some idle seconds. */
  private static long settledMemory(BridgeProcess bridge) throws Exception {
    TimeUnit.SECONDS.sleep(3);
    return bridge.resident();
  }
}
