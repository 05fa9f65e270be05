package dev.mcpbridge.perf;

import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.TestBridge;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Hours of use that goes wrong: servers that crash, clients that leave in the middle, confirmations
 * that are never decided, reloads, containers, and the nodes of a cluster coming and going. Twelve
 * times, everything rests; what the bridges hold then must not grow.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds in all.
 */
public final class Soak {
  private static final int SLICES = 12;
  private static final int CALLERS = 6;
  private static final int REST_SECONDS = 20;
  private static final long NODE_MILLIS = 25_000;
  private static final long RELOAD_MILLIS = 15_000;
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
          + "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}";

  /** The tools that are called, with their arguments; the last ones seldom. */
  private static final List<String> CALLS =
      List.of(
          "echo {\"text\":\"hello\"}",
          "echo {\"text\":\"grüße\"}",
          "sleep {\"ms\":20}",
          "big {\"bytes\":200000}",
          "tool_error {}",
          "fail {}",
          "effect {\"id\":\"held\"}",
          "exit {\"code\":1}");

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Map<String, AtomicLong> outcomes = new ConcurrentHashMap<>();
  private final Phaser users = new Phaser(1);
  private final String jar;
  private final Engine engine;
  private final Vitals vitals;
  private final List<Integer> clusterPorts = new ArrayList<>();
  private final List<BridgeProcess> nodes = new ArrayList<>();
  private BridgeProcess single;
  private volatile CountDownLatch resting;

  private Soak(String jar, Engine engine) {
    this.jar = jar;
    this.engine = engine;
    this.vitals = new Vitals(engine);
  }

  public static void main(String[] args) throws Exception {
    Soak soak = new Soak(args[0], engine());
    try {
      soak.start();
      soak.run(Double.parseDouble(args[2]));
    } finally {
      soak.single.close();
      for (BridgeProcess node : soak.nodes) {
        node.close();
      }
    }
  }

  private static Engine engine() throws Exception {
    try {
      Engine local = Engine.local();
      local.build();
      return local;
    } catch (Exception | AssertionError without) {
      System.out.println("without containers: " + without.getMessage());
      return null;
    }
  }

  private void start() throws Exception {
    single = BridgeProcess.tracked(jar, configuration(false));
    for (int i = 0; i < 3; i++) {
      clusterPorts.add(freePort());
    }
    for (int i = 0; i < 3; i++) {
      nodes.add(node(i));
    }
  }

  private String configuration(boolean hasMore) {
    String box =
        engine == null ? "" : ",'box':{'riskLevel':3,'docker':{'image':'" + Engine.IMAGE + "'}}";
    return TestBridge.json(
        "{'http':{'sessionIdle':20},'risk':{'expiry':20},'mcpServers':{"
            + "'a':%s,'b':%s%s%s}}"
                .formatted(
                    TestBridge.entry("'risk':{'tools':{'effect':2}}"),
                    TestBridge.entry("'risk':{'tools':{'effect':2}}"),
                    hasMore ? ",'more':" + TestBridge.entry("") : "",
                    box));
  }

  private BridgeProcess node(int number) throws IOException {
    String members =
        clusterPorts.stream()
            .map(port -> "'127.0.0.1:" + port + "'")
            .collect(Collectors.joining(","));
    String configuration =
        "{'http':{'sessionIdle':20},'risk':{'expiry':20},'cluster':{'name':'soak%d','members':[%s]},"
                .formatted(ProcessHandle.current().pid(), members)
            + "'mcpServers':{'a':%s,'b':%s}}"
                .formatted(
                    TestBridge.entry("'risk':{'tools':{'effect':2}}"),
                    TestBridge.entry("'risk':{'tools':{'effect':2}}"));
    String port = Integer.toString(clusterPorts.get(number));
    return BridgeProcess.tracked(
        jar, TestBridge.json(configuration), "--cluster", "--cluster-port", port);
  }

  private void run(double seconds) throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < CALLERS; i++) {
      user("caller", random.split(), this::call);
    }
    user("leaver", random.split(), this::leave);
    user("session", random.split(), this::abandonSession);
    user("operator", random.split(), this::reload);
    user("nodes", random.split(), this::replaceNode);
    if (engine != null) {
      user("containers", random.split(), this::callInContainer);
    }
    long begin = System.nanoTime();
    double slice = Math.max(10, seconds / SLICES - REST_SECONDS);
    for (int i = 1; i <= SLICES; i++) {
      sleep((long) (slice * 1_000));
      rest((System.nanoTime() - begin) / 3.6e12);
      System.out.println("slice " + i + " of " + SLICES + ": " + new TreeMap<>(outcomes));
    }
    vitals.print();
  }

  /** Stops all users, waits until what they left has expired, and samples. */
  private void rest(double hours) throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    resting = over;
    users.arriveAndAwaitAdvance();
    sleep(REST_SECONDS * 1_000L + 5_000);
    vitals.sample("bridge", single, hours);
    for (int i = 0; i < nodes.size(); i++) {
      vitals.sample("node " + (i + 1), nodes.get(i), hours);
    }
    vitals.sampleContainers(single, hours);
    resting = null;
    over.countDown();
  }

  private interface Deed {
    void once(SplittableRandom random) throws Exception;
  }

  private void user(String name, SplittableRandom random, Deed deed) {
    users.register();
    Thread thread = new Thread(() -> repeat(name, random, deed), name);
    thread.setDaemon(true);
    thread.start();
  }

  private void repeat(String name, SplittableRandom random, Deed deed) {
    while (true) {
      try {
        deed.once(random);
      } catch (Exception e) {
        count(name + " " + e.getClass().getSimpleName());
      }
      CountDownLatch over = resting;
      if (over != null) {
        users.arriveAndAwaitAdvance();
        await(over);
      }
    }
  }

  private static void await(CountDownLatch over) {
    try {
      over.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void call(SplittableRandom random) throws Exception {
    boolean isRare = random.nextInt(5_000) == 0;
    String[] call =
        CALLS.get(isRare ? CALLS.size() - 1 : random.nextInt(CALLS.size() - 1)).split(" ", 2);
    BridgeProcess bridge = random.nextInt(3) == 0 ? anyNode(random) : single;
    String server = random.nextBoolean() ? "a" : "b";
    post(bridge, "/servers/" + server + "/tools/" + call[0], call[1]);
    sleep(random.nextInt(30));
  }

  private void callInContainer(SplittableRandom random) throws Exception {
    post(single, "/servers/box/tools/id", "{}");
    sleep(2_000 + random.nextInt(3_000));
  }

  private BridgeProcess anyNode(SplittableRandom random) {
    return nodes.get(random.nextInt(nodes.size()));
  }

  private HttpResponse<String> post(BridgeProcess bridge, String path, String body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bridge.port() + path))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .timeout(Duration.ofSeconds(60))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    count(Integer.toString(response.statusCode()));
    return response;
  }

  /** Leaves during a call, an event stream or the head of a request. */
  private void leave(SplittableRandom random) throws Exception {
    BridgeProcess bridge = random.nextBoolean() ? single : anyNode(random);
    try (Socket socket = new Socket("127.0.0.1", bridge.port())) {
      String host = " HTTP/1.1\r\nHost: 127.0.0.1:" + bridge.port() + "\r\n";
      String text =
          switch (random.nextInt(3)) {
            case 0 ->
                "POST /servers/a/tools/sleep"
                    + host
                    + "Content-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ms\":5000}";
            case 1 -> "GET /events" + host + "Accept: text/event-stream\r\n\r\n";
            default -> "POST /mcp" + host + "Content-Le";
          };
      socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
      socket.setSoTimeout(random.nextInt(1, 300));
      InputStream in = socket.getInputStream();
      in.read();
    } catch (java.net.SocketTimeoutException left) {
      count("left");
    }
  }

  private void abandonSession(SplittableRandom random) throws Exception {
    post(random.nextBoolean() ? single : anyNode(random), "/mcp", INITIALIZE);
    sleep(random.nextInt(400));
  }

  private void reload(SplittableRandom random) throws Exception {
    single.configure(configuration(random.nextBoolean()));
    count("reloads");
    sleep(RELOAD_MILLIS);
  }

  /** Kills or stops a node, and starts it again. */
  private void replaceNode(SplittableRandom random) throws Exception {
    sleep(NODE_MILLIS);
    int number = random.nextInt(nodes.size());
    BridgeProcess old = nodes.get(number);
    if (random.nextBoolean()) {
      old.process().destroyForcibly().waitFor();
    }
    old.close();
    sleep(random.nextInt(5_000));
    nodes.set(number, node(number));
    count("nodes replaced");
  }

  private void count(String outcome) {
    outcomes.computeIfAbsent(outcome, o -> new AtomicLong()).incrementAndGet();
  }

  /** Ends early when everything is to rest. */
  private void sleep(long millis) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    boolean isUser = Thread.currentThread().isDaemon();
    while (System.nanoTime() < until && !(isUser && resting != null)) {
      TimeUnit.MILLISECONDS.sleep(Math.min(50, Math.max(1, millis)));
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
