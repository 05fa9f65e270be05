package dev.mcpbridge.perf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Compares the load on the upstream's pipe, on a bare HTTP server and on the bridge, each with 1, 8
 * and 64 requests in flight. Everything runs on this machine, so only the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, the folder for the results, seconds for each rung.
 */
public final class Ladder {
  private static final String ARGUMENTS =
      "{\"text\":\"the quick brown fox jumps over the lazy dog\",\"count\":42,"
          + "\"flags\":[\"a\",\"b\",\"c\"],\"place\":{\"lat\":47.36667,\"lon\":8.55}}";
  private static final String MCP =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
          + "\"arguments\":"
          + ARGUMENTS
          + ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
          + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
  private static final String MCP_HEADERS =
      "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
          + "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n";
  private static final String ANSWER =
      "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"structuredContent\":" + ARGUMENTS + "}";

  /** The just-in-time compiler shares the two cores with the load and needs this long. */
  private static final double WARM_UP_SECONDS = 20;

  private static final int[] CONNECTIONS = {1, 8, 64};

  private final Path jar;
  private final double seconds;
  private final List<Rung> rungs = new ArrayList<>();

  private Ladder(Path jar, double seconds) {
    this.jar = jar;
    this.seconds = seconds;
  }

  public static void main(String[] args) throws Exception {
    Ladder ladder = new Ladder(Path.of(args[0]), Double.parseDouble(args[2]));
    for (int connections : CONNECTIONS) {
      ladder.pipe(connections);
    }
    ladder.bare();
    ladder.bridge();
    new Report(ladder.rungs).write(Path.of(args[1]));
  }

  private void pipe(int outstanding) throws IOException {
    Process upstream = start(List.of("-cp", classPath(), EchoUpstream.class.getName()));
    try {
      add(
          "pipe",
          outstanding,
          new PipeLoad(upstream, outstanding, "echo", ARGUMENTS).run(3, seconds));
    } finally {
      upstream.destroy();
    }
  }

  private void bare() throws IOException {
    Process server =
        start(List.of("-XX:+UseSerialGC", "-cp", classPath(), BareServer.class.getName(), ANSWER));
    try {
      http("bare", port(server, "listening "), "/", ARGUMENTS, "");
    } finally {
      server.destroy();
    }
  }

  private void bridge() throws IOException {
    String configuration = "{" + EchoUpstream.servers() + "}";
    try (BridgeProcess bridge = BridgeProcess.ofJar(jar.toString(), configuration)) {
      int port = bridge.port();
      http("bridge", port, EchoUpstream.PATH, ARGUMENTS, "");
      http("bridge, MCP", port, "/servers/echo/mcp", MCP, MCP_HEADERS);
      http("bridge, tool call", port, "/toolcall", reply(1), "");
      add(
          "bridge, 8 tool calls",
          1,
          new HttpLoad(port, 1, "/toolcall", reply(8), "").run(3, seconds));
      add(
          "bridge, 100 kB result",
          8,
          new HttpLoad(port, 8, "/servers/echo/tools/blob", "{\"size\":100000}").run(3, seconds));
    }
  }

  /** A model reply with this number of calls. */
  private static String reply(int calls) {
    String escaped = ARGUMENTS.replace("\"", "\\\"");
    return IntStream.range(0, calls)
        .mapToObj(
            i ->
                "{\"id\":\"call_"
                    + i
                    + "\",\"type\":\"function\",\"function\":{\"name\":\"echo__echo\",\"arguments\":\""
                    + escaped
                    + "\"}}")
        .collect(Collectors.joining(",", "{\"tool_calls\":[", "]}"));
  }

  private void http(String name, int port, String path, String body, String headers)
      throws IOException {
    new HttpLoad(port, 64, path, body, headers).run(WARM_UP_SECONDS, 1);
    for (int connections : CONNECTIONS) {
      add(name, connections, new HttpLoad(port, connections, path, body, headers).run(2, seconds));
    }
  }

  private void add(String name, int connections, Samples samples) {
    Rung rung =
        new Rung(name, connections, samples.perSecond(), samples.micros(0.5), samples.micros(0.99));
    rungs.add(rung);
    System.out.printf(
        Locale.ROOT,
        "%-24s c=%-3d %9.0f calls/s   p50 %8.1f us   p99 %8.1f us%n",
        name,
        connections,
        rung.perSecond(),
        rung.p50(),
        rung.p99());
  }

  private static Process start(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(java()));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  static int port(Process server, String prefix) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(prefix)) {
        return Integer.parseInt(line.substring(prefix.length()).strip());
      }
    }
    throw new IOException("the server ended before it listened");
  }

  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private static String classPath() {
    return System.getProperty("java.class.path");
  }

  /** A line of the results: calls per second, latencies in microseconds. */
  record Rung(String name, int connections, double perSecond, double p50, double p99) {}
}
