package dev.mcpbridge.perf;

import dev.mcpbridge.fixture.SpanReceiver;
import java.io.IOException;
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
import java.util.stream.Stream;

/**
 * What the audit trail and traces cost: calls/s of bridges with the trail, and with traces of one
 * request in a hundred, relative to one without both, in turns. The bridges run all the time, and
 * those whose turn it is not are idle. Only the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class RecordingCost {
  private static final int CONNECTIONS = 64;
  private static final double WARM_UP_SECONDS = 40;
  private static final int ROUNDS = 8;

  /**
   * @param cpuMicros processor time of the bridge for each call
   */
  private record Cost(double perSecond, double cpuMicros) {
    String beside(String name, Cost plain) {
      return this == plain
          ? String.format(Locale.ROOT, "%s %.0f/s %.1f µs", name, perSecond, cpuMicros)
          : String.format(
              Locale.ROOT,
              "   %s %.3f, processor %+.1f µs",
              name,
              perSecond / plain.perSecond,
              cpuMicros - plain.cpuMicros);
    }
  }

  private RecordingCost() {}

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    Path folder = Files.createTempDirectory("bench-trail");
    Map<String, BridgeProcess> bridges = new LinkedHashMap<>();
    try (SpanReceiver receiver = new SpanReceiver()) {
      bridges.put("plain", start(args[0], ""));
      bridges.put("control", start(args[0], ""));
      bridges.put("audit", start(args[0], "\"audit\":{\"folder\":\"" + folder + "\"},"));
      bridges.put(
          "traces",
          start(
              args[0],
              "\"telemetry\":{\"otlp\":{\"endpoint\":\""
                  + receiver.url()
                  + "\"},\"sample\":0.01},"));
      for (BridgeProcess bridge : bridges.values()) {
        measured(bridge, WARM_UP_SECONDS, 1);
      }
      for (int round = 0; round < ROUNDS; round++) {
        List<String> order = new ArrayList<>(bridges.keySet());
        Collections.rotate(order, round);
        Map<String, Cost> costs = new HashMap<>();
        for (String name : order) {
          costs.put(name, measured(bridges.get(name), 0, seconds));
        }
        Cost plain = costs.get("plain");
        StringBuilder line = new StringBuilder();
        bridges.keySet().forEach(name -> line.append(costs.get(name).beside(name, plain)));
        System.out.println(line);
      }
    } finally {
      for (BridgeProcess bridge : bridges.values()) {
        bridge.close();
      }
      delete(folder);
    }
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
