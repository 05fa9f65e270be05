package dev.mcpbridge.perf;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.TestBridge;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How long the calls of one interactive caller take at a server of 16 slots, each call of ten
 * milliseconds: alone, and beside 64 bulk callers whose calls are less urgent. The same bridge, in
 * turns. Only the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class FairTurns {
  private static final String PATH = "/servers/s/tools/sleep";
  private static final String ARGUMENTS = "{\"ms\":10}";
  private static final int BULK_CALLERS = 64;
  private static final int ROUNDS = 5;

  private FairTurns() {}

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    List<String> keys = new ArrayList<>();
    for (int i = 0; i <= BULK_CALLERS; i++) {
      keys.add(ApiKeys.generate());
    }
    try (BridgeProcess bridge = BridgeProcess.ofJar(args[0], configuration(keys))) {
      interactive(bridge, keys).run(5, 1);
      for (int round = 0; round < ROUNDS; round++) {
        Samples quiet = interactive(bridge, keys).run(1, seconds);
        Samples usual = beside(bridge, keys, "", seconds);
        Samples bulk = beside(bridge, keys, "Priority: u=5\r\n", seconds);
        System.out.printf(
            Locale.ROOT,
            "p99 quiet %.1f ms   beside bulk callers %.1f ms, ratio %.2f   all at 3 %.1f ms, %.2f%n",
            quiet.micros(0.99) / 1e3,
            bulk.micros(0.99) / 1e3,
            bulk.micros(0.99) / quiet.micros(0.99),
            usual.micros(0.99) / 1e3,
            usual.micros(0.99) / quiet.micros(0.99));
      }
    }
  }

  private static HttpLoad interactive(BridgeProcess bridge, List<String> keys) throws Exception {
    return load(bridge, keys.get(0), "");
  }

  private static HttpLoad load(BridgeProcess bridge, String key, String more) throws Exception {
    return new HttpLoad(bridge.port(), 1, PATH, ARGUMENTS, "X-API-Key: " + key + "\r\n" + more);
  }

  private static Samples beside(
      BridgeProcess bridge, List<String> keys, String priority, double seconds) throws Exception {
    List<Thread> bulk = new ArrayList<>();
    for (String key : keys.subList(1, keys.size())) {
      HttpLoad load = load(bridge, key, priority);
      Thread thread = new Thread(() -> runQuietly(load, seconds + 2));
      thread.start();
      bulk.add(thread);
    }
    Samples samples = interactive(bridge, keys).run(1, seconds);
    for (Thread thread : bulk) {
      thread.join();
    }
    return samples;
  }

  private static void runQuietly(HttpLoad load, double seconds) {
    try {
      load.run(0, seconds);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static String configuration(List<String> keys) {
    String entries =
        keys.stream()
            .map(key -> TestBridge.key("k" + keys.indexOf(key), key, "'read','call'"))
            .collect(Collectors.joining(","));
    return TestBridge.json(
        "{'auth':{'keys':["
            + entries
            + "]},'mcpServers':{'s':"
            + TestBridge.entry("'maxInFlight':16")
            + "}}");
  }
}
