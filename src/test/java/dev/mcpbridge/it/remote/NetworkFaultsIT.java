package dev.mcpbridge.it.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.Toxic;
import dev.mcpbridge.fixture.ToxicProxy;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Network faults between the bridge and a remote server, at every phase of a call. */
@Tag("remote")
@Tag("slow")
class NetworkFaultsIT {
  private static final int MAX_CONNECTIONS = 16;

  @TempDir static Path folder;
  private static final Map<String, ToxicProxy> PROXIES = new TreeMap<>();
  private static Path effects;
  private static TestBridge upstream;
  private static TestBridge bridge;

  /** The phase in which a fault begins, given by the preceding text of the response. */
  private enum Moment {
    BEFORE_THE_HEADERS(""),
    IN_THE_BODY("\"jsonrpc\""),
    IN_THE_STREAM("notifications/progress");

    private final String after;

    Moment(String after) {
      this.after = after;
    }
  }

  private enum Kind {
    READ,
    EFFECT
  }

  private record Outcome(int status, String executed, String text) {}

  @BeforeAll
  static void start() throws Exception {
    effects = folder.resolve("effects");
    String risk = "'risk':{'tools':{'effect':1}}";
    String entry = TestBridge.entry("'env':{'EFFECTS':'" + effects + "'}," + risk);
    upstream = TestBridge.serving(entry);
    List<String> servers = new ArrayList<>();
    for (String era : List.of("legacy", "modern", "sse")) {
      ToxicProxy proxy = new ToxicProxy(upstream.port());
      PROXIES.put(era, proxy);
      String url = "'url':'http://127.0.0.1:" + proxy.port() + "/servers/s/";
      String reach =
          era.equals("sse")
              ? url + "sse','type':'sse','era':'legacy'"
              : url + "mcp','era':'" + era + "'";
      String keys = ",'heartbeat':0,'maxRestartDelay':0.4," + risk;
      servers.add("'" + era + "':{" + reach + keys + ",'timeout':20}");
      servers.add("'hasty-" + era + "':{" + reach + keys + ",'timeout':1}");
    }
    bridge = TestBridge.of("{'mcpServers':{" + String.join(",", servers) + "}}");
    for (String era : PROXIES.keySet()) {
      bridge.until(() -> works(era) && works("hasty-" + era));
    }
  }

  @AfterAll
  static void stop() throws Exception {
    bridge.close();
    for (ToxicProxy proxy : PROXIES.values()) {
      proxy.close();
    }
    upstream.close();
  }

  @AfterEach
  void assertRecoveredWithoutLeakedConnections() throws Exception {
    for (Map.Entry<String, ToxicProxy> proxy : PROXIES.entrySet()) {
      proxy.getValue().heal();
      bridge.until(() -> works(proxy.getKey()) && works("hasty-" + proxy.getKey()));
      bridge.until(() -> proxy.getValue().open() <= MAX_CONNECTIONS);
    }
    assertEquals(0, bridge.get("/servers/legacy").body().path("pending_calls").asInt());
  }

  private static boolean works(String server) throws Exception {
    Answer echo = bridge.post("/servers/" + server + "/tools/echo", "{\"m\":\"ü\"}");
    return echo.status() == 200 && echo.text().contains("{\"m\":\"ü\"}");
  }

  private static long effects() throws IOException {
    return Files.exists(effects) ? Files.readAllLines(effects).size() : 0;
  }

  private static Outcome call(String server, Moment moment, Kind kind) throws Exception {
    boolean streams = moment == Moment.IN_THE_STREAM;
    String tool = kind == Kind.EFFECT ? "effect" : streams ? "progress" : "echo";
    String[] accept = streams ? new String[] {"accept", "text/event-stream"} : new String[0];
    Answer answer =
        bridge.post("/servers/" + server + "/tools/" + tool, "{\"steps\":3,\"m\":\"ü\"}", accept);
    String text = answer.text().replaceAll("(?s).*event: (error|result)\ndata: ", "");
    JsonNode response = Json.mapper().readTree(text);
    return new Outcome(
        response.path("status").asInt(answer.status()), response.path("executed").asText(), text);
  }

  private static Stream<Arguments> with(String... toxics) {
    return Stream.of(toxics)
        .flatMap(
            toxic ->
                Stream.of("legacy", "modern", "sse")
                    .flatMap(
                        era ->
                            Stream.of(Moment.values())
                                .filter(m -> !era.equals("sse") || m == Moment.IN_THE_STREAM)
                                .flatMap(
                                    moment ->
                                        Stream.of(Kind.values())
                                            .map(k -> Arguments.of(toxic, era, moment, k)))));
  }

  static Stream<Arguments> slowdowns() {
    return with("latency", "bandwidth", "slicer", "slow close");
  }

  static Stream<Arguments> silences() {
    return with("swallow", "great latency", "tiny bandwidth");
  }

  static Stream<Arguments> cuts() {
    return with("timeout", "reset", "limit");
  }

  private static Toxic toxic(String name) {
    return switch (name) {
      case "latency" -> Toxic.latency(25, 20);
      case "bandwidth" -> Toxic.bandwidth(20_000);
      case "slicer" -> Toxic.slicer();
      case "slow close" -> Toxic.slowClose(50);
      case "swallow" -> Toxic.swallow();
      case "great latency" -> Toxic.latency(3_000, 1_000);
      case "tiny bandwidth" -> Toxic.bandwidth(10);
      case "timeout" -> Toxic.timeout(50);
      case "reset" -> Toxic.reset();
      case "limit" -> Toxic.limit(5);
      default -> throw new IllegalArgumentException(name);
    };
  }

  @ParameterizedTest
  @MethodSource("slowdowns")
  void slowOrFragmentedResponsesArrive(String toxic, String era, Moment moment, Kind kind)
      throws Exception {
    long before = effects();
    PROXIES.get(era).answers(moment.after, toxic(toxic));

    Outcome outcome = call(era, moment, kind);

    assertEquals(200, outcome.status(), outcome.text());
    assertEquals(before + kind.ordinal(), effects());
  }

  @ParameterizedTest
  @MethodSource("silences")
  void lateResponsesEndAtTheDeadline(String toxic, String era, Moment moment, Kind kind)
      throws Exception {
    long expected = effects() + kind.ordinal();

    // a call that times out before it is sent is not executed, so it is repeated here
    bridge.until(
        () -> {
          PROXIES.get(era).answers(moment.after, toxic(toxic));
          Outcome outcome = call("hasty-" + era, moment, kind);
          assertEquals(504, outcome.status(), outcome.text());
          assertEquals("unknown", outcome.executed());
          PROXIES.get(era).heal();
          bridge.until(() -> works("hasty-" + era));
          assertTrue(effects() <= expected, "the call was executed more than once");
          return effects() == expected;
        });
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void brokenResponsesAreUnknownAndNotRepeated(String toxic, String era, Moment moment, Kind kind)
      throws Exception {
    long before = effects();
    PROXIES.get(era).answers(moment.after, toxic(toxic));

    Outcome outcome = call(era, moment, kind);

    assertEquals(502, outcome.status(), outcome.text());
    assertEquals("unknown", outcome.executed());
    PROXIES.get(era).heal();
    bridge.until(() -> works(era));
    assertEquals(before + kind.ordinal(), effects());
  }

  @ParameterizedTest
  @CsvSource({
    "legacy,timeout", "legacy,reset", "legacy,limit",
    "modern,timeout", "modern,reset", "modern,limit"
  })
  void aBrokenRequestIsNotRepeated(String era, String toxic) throws Exception {
    long before = effects();
    PROXIES.get(era).requests("\"tools/call\"", toxic(toxic));

    Outcome outcome = call(era, Moment.IN_THE_BODY, Kind.EFFECT);

    assertEquals(502, outcome.status(), outcome.text());
    assertEquals("unknown", outcome.executed());
    PROXIES.get(era).heal();
    bridge.until(() -> works(era));
    assertEquals(before, effects());
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern", "sse"})
  void aRefusedConnectionMeansNotExecuted(String era) throws Exception {
    long before = effects();
    PROXIES.get(era).refuseConnections();

    bridge.until(() -> call(era, Moment.IN_THE_BODY, Kind.EFFECT).executed().equals("no"));
    Outcome refused = call(era, Moment.IN_THE_BODY, Kind.EFFECT);

    assertEquals("no", refused.executed(), refused.text());
    assertTrue(refused.status() == 502 || refused.status() == 503, refused.text());
    PROXIES.get(era).heal();
    bridge.until(() -> works(era));
    assertEquals(before, effects());
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern", "sse"})
  void unansweredCallsReleaseTheirConnections(String era) throws Exception {
    ToxicProxy proxy = PROXIES.get(era);
    int before = proxy.open();
    proxy.answers("", Toxic.swallow());

    List<CompletableFuture<Integer>> calls =
        Stream.generate(
                () ->
                    Background.call(
                        () -> call("hasty-" + era, Moment.IN_THE_BODY, Kind.READ).status()))
            .limit(60)
            .toList();

    for (CompletableFuture<Integer> call : calls) {
      assertEquals(504, call.get(30, TimeUnit.SECONDS));
    }
    bridge.until(() -> proxy.open() <= before + 2);
  }
}
