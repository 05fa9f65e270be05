package dev.mcpbridge.perf;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.sandbox.EngineItself;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What isolation costs: one caller at a server that is a process, at the same server in a container
 * for its life, and at level 3 with a container for each call; then as many single-use containers
 * as go, beside what the engine itself creates, starts and removes with the same profile.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each rung.
 */
public final class Containers {
  private static final String BODY = "{\"text\":\"hi\"}";
  private static final int AT_ONCE = 8;

  private final HttpClient client = HttpClient.newHttpClient();
  private final int port;
  private final double seconds;

  private Containers(int port, double seconds) {
    this.port = port;
    this.seconds = seconds;
  }

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    Engine engine = Engine.there();
    Path config = Files.createTempFile("containers", ".json");
    Files.writeString(config, configuration());
    Process bridge =
        Ladder.start(
            List.of(
                "-XX:+UseSerialGC",
                "-jar",
                args[0],
                "serve",
                "--port",
                "0",
                "--config",
                config.toString()));
    try {
      int port = Ladder.port(bridge, "MCP Bridge is listening on http://127.0.0.1:");
      TimeUnit.SECONDS.sleep(10);
      new Containers(port, seconds).run(bridge);
    } finally {
      bridge.destroy();
      bridge.waitFor();
      Files.delete(config);
      System.out.println(
          "containers left: " + engine.containers("dev.mcpbridge.pid=" + bridge.pid()).size());
    }
    System.exit(0);
  }

  private static String configuration() {
    String container =
        "\"docker\":{\"image\":\"" + Engine.IMAGE + "\",\"pool\":{\"min\":%d,\"max\":%d}}";
    return "{\"mcpServers\":{\"process\":{\"command\":\"busybox\",\"args\":[\"sh\",\""
        + Path.of("src/test/sandbox/server.sh").toAbsolutePath()
        + "\"]},\"whole\":{"
        + container.formatted(0, 1)
        + "},\"each\":{\"riskLevel\":3,"
        + container.formatted(2, 4)
        + "},\"many\":{\"riskLevel\":3,"
        + container.formatted(0, AT_ONCE)
        + "}}}";
  }

  private void run(Process bridge) throws Exception {
    double process = median("a process", "process");
    median("a container for its life", "whole");
    double isolated = median("a container for each call", "each");
    System.out.printf(Locale.ROOT, "isolation costs a call %.1f ms%n", isolated - process);
    long before = descriptors(bridge);
    double sustained =
        new HttpLoad(port, AT_ONCE, "/servers/many/tools/echo", BODY, "")
            .run(5, seconds)
            .perSecond();
    BridgeConfig config =
        new ConfigReader(Map.of()).read(configuration(), ConfigReader.Strictness.WHOLE);
    double engine =
        EngineItself.perSecond(
            config.servers().get(new ServerId("many")).sandbox().container(),
            config.sandbox().engine(),
            AT_ONCE,
            seconds);
    System.out.printf(
        Locale.ROOT,
        "single-use containers %.1f a second, the engine itself %.1f: %.2f%n",
        sustained,
        engine,
        sustained / engine);
    System.out.println("descriptors: " + before + " before, " + descriptors(bridge) + " after");
  }

  /** One call, a rest in which the pool fills again, and so on; milliseconds. */
  private double median(String name, String server) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + port + "/servers/" + server + "/tools/echo"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(BODY))
            .build();
    Samples samples = new Samples();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      long at = System.nanoTime();
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      samples.add(System.nanoTime() - at);
      if (answer.statusCode() != 200) {
        throw new IllegalStateException(answer.body());
      }
      TimeUnit.MILLISECONDS.sleep(500);
    }
    samples.over(1);
    System.out.printf(
        Locale.ROOT,
        "%-28s p50 %6.1f ms   p99 %6.1f ms%n",
        name,
        samples.micros(0.5) / 1e3,
        samples.micros(0.99) / 1e3);
    return samples.micros(0.5) / 1e3;
  }

  private static long descriptors(Process bridge) throws Exception {
    try (var open = Files.list(Path.of("/proc/" + bridge.pid() + "/fd"))) {
      return open.count();
    }
  }
}
