package dev.mcpbridge.perf;

import dev.mcpbridge.fixture.Engine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a bridge holds, sampled while it is at rest, and how it grows. */
final class Vitals {
  private static final Pattern OTHER =
      Pattern.compile("Other \\(reserved=\\d+KB, committed=(\\d+)KB\\)");
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final Map<String, List<double[]>> series = new LinkedHashMap<>();
  private final Engine engine;

  /**
   * @param engine null without one
   */
  Vitals(Engine engine) {
    this.engine = engine;
  }

  /**
   * Collects garbage and samples.
   *
   * @param hours since the begin
   */
  void sample(String name, BridgeProcess bridge, double hours) throws Exception {
    long pid = bridge.process().pid();
    new ProcessBuilder("jcmd", Long.toString(pid), "GC.run")
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
    String metrics = metrics(bridge);
    add(name + " processes", hours, bridge.process().descendants().count());
    add(name + " descriptors", hours, bridge.descriptors());
    add(name + " threads", hours, entries("/proc/" + pid + "/task"));
    add(
        name + " heap after collection, MB",
        hours,
        value(metrics, "jvm_memory_used_bytes{area=\"heap\"}") / 1e6);
    add(name + " direct memory, MB", hours, directBytes(pid) / 1e6);
    add(name + " sessions", hours, value(metrics, "mcp_bridge_sessions"));
    add(name + " resident, MB", hours, bridge.resident() / 1e3);
  }

  /** Samples the containers that a bridge has. */
  void sampleContainers(BridgeProcess bridge, double hours) throws Exception {
    if (engine != null) {
      String label = "dev.mcpbridge.pid=" + bridge.process().pid();
      add("containers", hours, engine.containers(label).size());
    }
  }

  private void add(String name, double hours, double value) {
    series.computeIfAbsent(name, n -> new ArrayList<>()).add(new double[] {hours, value});
  }

  private static String metrics(BridgeProcess bridge) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + bridge.port() + "/metrics");
    return CLIENT
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static double value(String metrics, String name) {
    return metrics
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElse(Double.NaN);
  }

  /** What Java has allocated for its program outside of the heap, which is that of buffers. */
  private static double directBytes(long pid) throws IOException {
    Process jcmd =
        new ProcessBuilder("jcmd", Long.toString(pid), "VM.native_memory", "summary").start();
    String account = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Matcher other = OTHER.matcher(account);
    return other.find() ? Double.parseDouble(other.group(1)) * 1024 : Double.NaN;
  }

  private static long entries(String folder) throws IOException {
    try (Stream<Path> all = Files.list(Path.of(folder))) {
      return all.count();
    }
  }

  /**
   * Prints first, last, lowest and highest value of each series, and its slope by least squares.
   */
  void print() {
    System.out.printf(
        Locale.ROOT,
        "%-40s %8s %8s %8s %8s %10s%n",
        "at rest",
        "first",
        "last",
        "lowest",
        "highest",
        "an hour");
    series.forEach(
        (name, points) ->
            System.out.printf(
                Locale.ROOT,
                "%-40s %8.1f %8.1f %8.1f %8.1f %+10.2f%n",
                name,
                points.get(0)[1],
                points.get(points.size() - 1)[1],
                points.stream().mapToDouble(point -> point[1]).min().orElse(0),
                points.stream().mapToDouble(point -> point[1]).max().orElse(0),
                slope(points)));
  }

  static double slope(List<double[]> points) {
    double n = points.size();
    double x = points.stream().mapToDouble(point -> point[0]).sum() / n;
    double y = points.stream().mapToDouble(point -> point[1]).sum() / n;
    double above = points.stream().mapToDouble(p -> (p[0] - x) * (p[1] - y)).sum();
    double below = points.stream().mapToDouble(p -> (p[0] - x) * (p[0] - x)).sum();
    return below == 0 ? 0 : above / below;
  }
}
