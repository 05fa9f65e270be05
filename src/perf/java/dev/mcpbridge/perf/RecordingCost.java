package dev.mcpbridge.perf;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * What the audit trail and traces cost: calls/s of bridges with the trail, and with traces of one
 * request in a hundred, relative to one without both, in turns of random order: median and middle
 * half. The bridges run all the time, and those whose turn it is not are idle. Only the ratios are
 * meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class RecordingCost {
  private static final int CONNECTIONS = 64;
  private static final double WARM_UP_SECONDS = 40;

  /** Many short turns, since a shared machine is faster and slower by turns too. */
  private static final int ROUNDS = 32;

  private static final double TURN = 0.25;

  /**
   * @param cpuMicros processor time of the bridge for each call
   */
  private record Cost(double perSecond, double cpuMicros) {}

  private RecordingCost() {}

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    Path folder = Files.createTempDirectory("bench-trail");
    List<Map<String, Cost>> rounds = new ArrayList<>();
    Random random = new Random(1);
    Map<String, BridgeProcess> bridges = new LinkedHashMap<>();
    HttpServer collector = collector();
    try {
      bridges.put("plain", start(args[0], ""));
      bridges.put("control", start(args[0], ""));
      bridges.put("audit", start(args[0], "\"audit\":{\"folder\":\"" + folder + "\"},"));
      bridges.put(
          "traces",
          start(
              args[0],
              "\"telemetry\":{\"otlp\":{\"endpoint\":\""
                  + "http://127.0.0.1:"
                  + collector.getAddress().getPort()
                  + "\"},\"sample\":0.01},"));
      for (BridgeProcess bridge : bridges.values()) {
        measured(bridge, WARM_UP_SECONDS, 1);
      }
      for (int round = 0; round < ROUNDS; round++) {
        List<String> order = new ArrayList<>(bridges.keySet());
        Collections.shuffle(order, random);
        Map<String, Cost> costs = new HashMap<>();
        for (String name : order) {
          costs.put(name, measured(bridges.get(name), 0, TURN * seconds));
        }
        rounds.add(costs);
      }
      bridges.keySet().forEach(name -> print(name, rounds));
    } finally {
      collector.stop(0);
      for (BridgeProcess bridge : bridges.values()) {
        bridge.close();
      }
      delete(folder);
    }
  }

  /** Takes spans and keeps none of them: a collector is usually another machine. */
  private static HttpServer collector() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/v1/traces", RecordingCost::take);
    server.start();
    return server;
  }

  private static void take(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  private static void print(String name, List<Map<String, Cost>> rounds) {
    System.out.println(
        name
            + quartiles(
                " calls/s relative", rounds, r -> r.get(name).perSecond / plain(r).perSecond)
            + quartiles(", more µs", rounds, r -> r.get(name).cpuMicros - plain(r).cpuMicros)
            + quartiles(", µs", rounds, r -> r.get(name).cpuMicros));
  }

  private static Cost plain(Map<String, Cost> round) {
    return round.get("plain");
  }

  private static String quartiles(
      String what, List<Map<String, Cost>> rounds, ToDoubleFunction<Map<String, Cost>> value) {
    double[] sorted = rounds.stream().mapToDouble(value).sorted().toArray();
    int quarter = sorted.length / 4;
    return String.format(
        Locale.ROOT,
        "%s %.2f (%.2f to %.2f)",
        what,
        sorted[2 * quarter],
        sorted[quarter],
        sorted[3 * quarter]);
  }

  private static BridgeProcess start(String jar, String section) throws IOException {
    return BridgeProcess.ofJar(jar, "{" + section + EchoUpstream.servers() + "}");
  }

  private static Cost measured(BridgeProcess bridge, double warmUp, double seconds)
      throws Exception {
    HttpLoad load =
        new HttpLoad(bridge.port(), CONNECTIONS, EchoUpstream.PATH, EchoUpstream.CALL, "");
    Duration before = cpu(bridge);
    double perSecond = load.run(warmUp, seconds).perSecond();
    double micros = cpu(bridge).minus(before).toNanos() / 1e3;
    return new Cost(perSecond, micros / (perSecond * seconds));
  }

  private static Duration cpu(BridgeProcess bridge) {
    return bridge.process().info().totalCpuDuration().orElseThrow();
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted((one, other) -> other.compareTo(one)).toList()) {
        Files.delete(file);
      }
    }
  }
}
