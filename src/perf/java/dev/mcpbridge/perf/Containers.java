package dev.mcpbridge.perf;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.sandbox.EngineBaseline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The cost of isolation. First the throughput of single-use containers, compared with the engine
 * itself and the same profile. Then the latency of one caller at a server in a process, in a
 * long-lived container, and at level 3 with a container for each call, alternately. Then the effect
 * of resource exhaustion in containers on another server.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class Containers {
  private static final String BODY = "{\"text\":\"hi\"}";
  private static final int AT_ONCE = 8;
  private static final String BUSY = "awake";
  private static final double LONG = 30;
  private static final Map<String, String> TOOLS = new LinkedHashMap<>();

  static {
    TOOLS.put("echo", BODY);
    TOOLS.put("forks", "{}");
    TOOLS.put("memory", "{}");
    TOOLS.put("disk", "{}");
    TOOLS.put("spin", "{\"seconds\":5}");
  }

  private final HttpClient client = HttpClient.newHttpClient();
  private final BridgeProcess bridge;
  private final double seconds;

  private Containers(BridgeProcess bridge, double seconds) {
    this.bridge = bridge;
    this.seconds = seconds;
  }

  public static void main(String[] args) throws Exception {
    Engine engine = Engine.local();
    String label;
    try (BridgeProcess bridge = BridgeProcess.ofJar(args[0], configuration())) {
      label = "dev.mcpbridge.pid=" + bridge.process().pid();
      TimeUnit.SECONDS.sleep(10);
      Containers bench = new Containers(bridge, Double.parseDouble(args[2]));
      bench.sustained();
      bench.oneCaller("at rest");
      bench.oneCaller(BUSY);
      bench.neighbour();
    }
    System.out.println("containers left: " + engine.containers(label).size());
    System.exit(0);
  }

  private static String configuration() {
    String container =
        "\"docker\":{\"image\":\"" + Engine.IMAGE + "\",\"pool\":{\"min\":%d,\"max\":%d}}";
    String process =
        "{\"command\":\"busybox\",\"args\":[\"sh\",\""
            + Path.of("src/test/sandbox/server.sh").toAbsolutePath()
            + "\"]}";
    return "{\"mcpServers\":{\"process\":"
        + process
        + ",\"awake\":"
        + process
        + ",\"whole\":{"
        + container.formatted(0, 1)
        + "},\"each\":{\"riskLevel\":3,"
        + container.formatted(2, 4)
        + "},\"many\":{\"riskLevel\":3,"
        + container.formatted(0, AT_ONCE)
        + "}}}";
  }

  private void sustained() throws Exception {
    long before = bridge.descriptors();
    long residentBefore = bridge.resident();
    double sustained =
        new HttpLoad(bridge.port(), AT_ONCE, "/servers/many/tools/echo", BODY, "")
            .run(5, seconds)
            .perSecond();
    BridgeConfig config =
        new ConfigReader(Map.of()).read(configuration(), ConfigReader.Strictness.ALL_OR_NOTHING);
    double engine =
        EngineBaseline.perSecond(
            config.servers().get(new ServerId("many")).sandboxPool().container(),
            config.sandbox().engine(),
            AT_ONCE,
            seconds);
    System.out.printf(
        Locale.ROOT,
        "single-use containers %.1f a second, the engine itself %.1f: %.2f%n",
        sustained,
        engine,
        sustained / engine);
    System.out.printf(
        "descriptors: %d before, %d after; resident: %d kB before, %d kB after%n",
        before, bridge.descriptors(), residentBefore, bridge.resident());
  }

  /**
   * Alternates between the servers, with pauses in which the pool is refilled.
   *
   * @param meanwhile activity in the pauses: none, or calls that keep the machine awake, since
   *     waking it up can take longer than any of these calls
   */
  private void oneCaller(String meanwhile) throws Exception {
    Map<String, Samples> samplesOf = new LinkedHashMap<>();
    long end = after(4 * Math.min(LONG, seconds));
    while (System.nanoTime() < end) {
      for (String server : List.of("process", "whole", "each")) {
        samplesOf.computeIfAbsent(server, name -> new Samples()).add(call(server, "echo", BODY));
        rest(meanwhile);
      }
    }
    samplesOf.forEach((server, samples) -> print(server + ", " + meanwhile, samples));
    System.out.printf(
        Locale.ROOT,
        "isolation costs a call %.2f ms%n",
        (samplesOf.get("each").micros(0.5) - samplesOf.get("process").micros(0.5)) / 1e3);
  }

  private void rest(String meanwhile) throws Exception {
    long end = after(1);
    while (System.nanoTime() < end) {
      if (meanwhile.equals(BUSY)) {
        call("awake", "echo", BODY);
      } else {
        TimeUnit.MILLISECONDS.sleep(100);
      }
    }
  }

  /** The baseline is harmless calls, since creating containers also uses the processors. */
  private void neighbour() throws Exception {
    double baseline = 0;
    for (Map.Entry<String, String> tool : TOOLS.entrySet()) {
      Thread caller = new Thread(() -> callUntilInterrupted(tool.getKey(), tool.getValue()));
      caller.start();
      TimeUnit.SECONDS.sleep(1);
      double p99 = beside(tool.getKey()).micros(0.99);
      baseline = baseline == 0 ? p99 : baseline;
      System.out.printf(Locale.ROOT, "  %.2f of the p99 beside harmless calls%n", p99 / baseline);
      caller.interrupt();
      caller.join();
    }
  }

  private void callUntilInterrupted(String tool, String arguments) {
    try {
      while (true) {
        send("each", tool, arguments);
        TimeUnit.MILLISECONDS.sleep(500);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Samples beside(String tool) throws Exception {
    Samples samples = new Samples();
    long end = after(Math.min(LONG, seconds));
    while (System.nanoTime() < end) {
      samples.add(call("process", "echo", BODY));
    }
    print("process, beside " + tool, samples);
    return samples;
  }

  private static long after(double seconds) {
    return System.nanoTime() + (long) (seconds * 1e9);
  }

  /** Nanoseconds of a call; fails unless it succeeds. */
  private long call(String server, String tool, String arguments) throws Exception {
    long at = System.nanoTime();
    HttpResponse<String> answer = send(server, tool, arguments);
    long nanos = System.nanoTime() - at;
    if (answer.statusCode() != 200) {
      throw new IllegalStateException(answer.body());
    }
    return nanos;
  }

  private HttpResponse<String> send(String server, String tool, String arguments)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:" + bridge.port() + "/servers/" + server + "/tools/" + tool))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(arguments))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static void print(String name, Samples samples) {
    samples.finish(1);
    System.out.printf(
        Locale.ROOT,
        "%-28s p50 %8.2f ms   p99 %8.2f ms%n",
        name,
        samples.micros(0.5) / 1e3,
        samples.micros(0.99) / 1e3);
  }
}
