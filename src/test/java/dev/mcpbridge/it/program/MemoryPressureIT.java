package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.LargeAnswers;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.SlowReader;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Large responses, and clients that do not read them. */
@Tag("program")
@Tag("slow")
@Tag("threads")
class MemoryPressureIT {
  private static final int LARGE = 3_200_000;
  private static final int BUDGET = 4 << 20;

  @TempDir Path folder;
  private TestBridge bridge;
  private final List<SlowReader> readers = new ArrayList<>();
  private int restarts;

  private void start(String http, String servers) throws Exception {
    start(http, servers, BUDGET);
  }

  private void start(String http, String servers, int budget) throws Exception {
    bridge =
        TestBridge.of(
                "{'http':{%s},'limits':{'heldBytes':%s},'mcpServers':{%s}}"
                    .formatted(http, budget, servers))
            .awaitReady("s");
  }

  private void start(String http) throws Exception {
    start(http, "'s':" + entryWithEffects("") + ",'other':" + TestBridge.entry(""));
    bridge.awaitReady("other");
  }

  private String entryWithEffects(String more) {
    return TestBridge.entry("'env':{'EFFECTS':'" + folder.resolve("effects") + "'}" + more);
  }

  @AfterEach
  void assertMemoryReleasedAndBridgeAlive() throws Exception {
    for (SlowReader reader : readers) {
      reader.close();
    }
    if (bridge != null) {
      bridge.until(() -> held() == 0);
      assertEquals(200, bridge.get("/health/live").status());
      assertEquals(restarts, count("s", "restarts"));
      bridge.close();
    }
  }

  private double held() throws Exception {
    return MetricsText.heldBytes(bridge.get("/metrics").text());
  }

  private int count(String server, String calls) throws Exception {
    return bridge.get("/servers/" + server).body().path(calls).asInt();
  }

  private SlowReader slow(int millis) throws IOException {
    SlowReader reader = SlowReader.big(bridge.port(), LARGE, millis);
    readers.add(reader);
    return reader;
  }

  /** Exhausts the memory budget with one response that is not read. */
  private SlowReader exhaustMemory() throws Exception {
    SlowReader reader = slow(0);
    bridge.until(() -> held() > LARGE);
    return reader;
  }

  @Test
  void callsAreRefusedUntilUnreadResponsesAreRead() throws Exception {
    start("");
    SlowReader reader = exhaustMemory();

    Answer refused = bridge.call("effect", "{}");

    assertEquals(503, refused.status(), refused.text());
    assertEquals("overloaded", refused.code());
    assertEquals("no", refused.at("/executed"));
    assertEquals("1", refused.header("retry-after"));
    assertFalse(Files.exists(folder.resolve("effects")));
    assertEquals(200, bridge.get("/servers/s/tools").status());

    assertTrue(reader.readAll().length() > LARGE);
    bridge.until(() -> held() == 0);
    assertEquals(200, bridge.call("effect", "{}").status());
  }

  @Test
  void aWaitingResponseDoesNotBlockOtherServers() throws Exception {
    start("");
    CompletableFuture<Answer> otherCall =
        bridge.postLater("/servers/other/tools/sleep", "{\"ms\":1500}");
    bridge.until(() -> count("other", "pending_calls") == 1);
    SlowReader first = slow(300);
    SlowReader second = slow(300);
    bridge.until(() -> held() > LARGE);

    assertEquals(200, otherCall.join().status());
    double held = held();
    assertTrue(held <= BUDGET, () -> held + " bytes are buffered");

    CompletableFuture<Integer> taken = CompletableFuture.supplyAsync(() -> length(first));
    assertTrue(length(second) > LARGE);
    assertTrue(taken.join() > LARGE);
  }

  private static int length(SlowReader reader) {
    try {
      return reader.readAll().length();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aResponseWithoutRoomIsDroppedAsExecuted() throws Exception {
    start("");
    slow(100);
    CompletableFuture<Answer> second =
        bridge.callLater("big", "{\"size\":" + LARGE + ",\"ms\":1000}");

    Answer dropped = second.join();

    assertEquals(502, dropped.status(), dropped.toString());
    assertEquals("response_too_large", dropped.code());
    assertEquals("yes", dropped.at("/executed"));
  }

  @Test
  void aServerKilledWithAWaitingResponseIsRestarted() throws Exception {
    start("");
    CompletableFuture<Answer> second =
        bridge.callLater("big", "{\"size\":" + LARGE + ",\"ms\":1500}");
    bridge.until(() -> count("s", "pending_calls") == 1);
    SlowReader first = slow(0);
    bridge.until(() -> held() > LARGE + 800_000);
    long pid = bridge.pids("s").get(0);

    ProcessHandle.of(pid).orElseThrow().destroyForcibly();

    Answer lost = second.get(3, TimeUnit.SECONDS);
    assertEquals(502, lost.status(), lost.toString());
    assertEquals("unknown", lost.at("/executed"), lost.text());
    assertTrue(first.readAll().length() > LARGE);
    restarts = 1;
    bridge.until(() -> bridge.state("s").equals("ready") && bridge.pids("s").get(0) != pid);
    assertEquals(200, bridge.call("echo", "{}").status());
  }

  @Test
  void anApprovedCallWaitsForMemoryAndRunsOnce() throws Exception {
    start("", "'s':" + entryWithEffects(",'risk':{'tools':{'effect':2}}"));
    JsonNode pending = bridge.call("effect", "{}").body();
    SlowReader reader = exhaustMemory();
    CompletableFuture<Answer> approved =
        bridge.postLater(
            "/confirmations/" + pending.path("confirmation_id").asText(),
            "{\"confirm\":true,\"token\":\"" + pending.path("token").asText() + "\"}");
    bridge.until(() -> count("s", "queued_calls") == 1);
    assertFalse(approved.isDone());
    assertFalse(Files.exists(folder.resolve("effects")));

    assertTrue(reader.readAll().length() > LARGE);

    assertEquals(200, approved.join().status(), approved.join().text());
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void aClientThatDisconnectsReleasesItsResponse() throws Exception {
    start("");
    SlowReader reader = exhaustMemory();
    reader.read(100_000);

    reader.close();

    bridge.until(() -> held() == 0);
    assertEquals(200, bridge.call("echo", "{}").status());
  }

  /** With room for all ten responses: too little memory would refuse calls of every caller. */
  @Test
  void pipelinedResponsesAreBufferedOneAtATime() throws Exception {
    start("", "'s':" + entryWithEffects("") + ",'other':" + TestBridge.entry(""), 16 * BUDGET);
    bridge.awaitReady("other");
    SlowReader reader =
        SlowReader.pipelined(bridge.port(), "/servers/s/tools/big", "{\"size\":1100000}", 10);
    readers.add(reader);

    bridge.until(() -> held() > 1_000_000);
    Answer other = bridge.post("/servers/other/tools/echo", "{}");

    assertEquals(200, other.status(), other.toString());
    bridge.until(() -> held() > 1_000_000 && held() < 2_000_000);
    assertEquals(11, reader.readAll().split("HTTP/1.1 200", -1).length);
  }

  @Test
  void onlyAClientThatStopsReadingIsDisconnected() throws Exception {
    start("'idleTimeout':2");
    int size = 4 * LARGE;
    SlowReader slow = SlowReader.big(bridge.port(), size, 0);
    readers.add(slow);
    int taken = slow.readFor(Duration.ofSeconds(6), 50_000);
    assertTrue(taken < size, () -> "read " + taken);
    assertTrue(slow.readAll().length() + taken > size);
    bridge.until(() -> held() == 0);

    SlowReader stuck = exhaustMemory();

    bridge.until(() -> held() == 0);
    assertTrue(stuck.readAll().length() < LARGE);
  }

  @Test
  void underPressureAClientMustReadWithinTheBodyTimeout() throws Exception {
    start("'bodyTimeout':2");
    SlowReader slow = exhaustMemory();

    bridge.until(
        () -> {
          slow.read(1_000);
          return held() == 0;
        });

    assertTrue(slow.readAll().length() < LARGE);
    assertEquals(200, bridge.call("echo", "{}").status());
  }

  @Test
  void aLargeBodyIsRefusedWithoutRoom() throws Exception {
    start("");
    String large = "{\"m\":\"" + "x".repeat(1_000_000) + "\"}";
    SlowReader other =
        SlowReader.posting(
            bridge.port(), "/servers/s/tools/never", "{\"m\":\"" + "x".repeat(4_000_000) + "\"}");
    readers.add(other);
    bridge.until(() -> count("s", "pending_calls") == 1);

    Answer refused = bridge.call("echo", large);
    Answer tooLarge = bridge.call("echo", "{\"m\":\"" + "x".repeat(5_000_000) + "\"}");

    assertEquals(503, refused.status(), refused.toString());
    assertEquals("overloaded", refused.code());
    assertEquals(413, tooLarge.status(), tooLarge.toString());
    assertEquals(200, bridge.call("echo", "{}").status());
    other.close();
    bridge.until(() -> bridge.call("echo", large).status() == 200);
  }

  @Test
  void closingAnEventStreamReleasesTheRequestBody() throws Exception {
    start("");
    String large = "{\"m\":\"" + "x".repeat(1_500_000) + "\"}";
    for (int i = 0; i < 5; i++) {
      SlowReader reader =
          SlowReader.posting(bridge.port(), "/servers/s/tools/never", large, "text/event-stream");
      reader.read(100);
      reader.close();
      bridge.until(() -> count("s", "pending_calls") == 0);
    }

    assertEquals(200, bridge.call("echo", large).status());
  }

  @Test
  void aMissingResponseReleasesItsRoomWithItsCall() throws Exception {
    try (LargeAnswers server = new LargeAnswers(LargeAnswers.Form.HANGING)) {
      start("", "'s':" + server.entry(",'timeout':1"));

      Answer late = bridge.call("big", "{\"size\":" + LARGE + "}");

      assertEquals(504, late.status(), late.toString());
      bridge.until(() -> held() == 0);
    }
  }

  @ParameterizedTest
  @EnumSource(value = LargeAnswers.Form.class, names = "HANGING", mode = EnumSource.Mode.EXCLUDE)
  void manyHttpResponsesArriveAsThereIsRoom(LargeAnswers.Form form) throws Exception {
    try (LargeAnswers server = new LargeAnswers(form)) {
      start("", "'s':" + server.entry(""));
      int size = 1_000_000;
      List<CompletableFuture<Answer>> answers =
          IntStream.range(0, 40)
              .mapToObj(i -> bridge.callLater("big", "{\"size\":" + size + "}"))
              .toList();

      long whole =
          answers.stream()
              .map(CompletableFuture::join)
              .filter(answer -> answer.status() == 200 && answer.text().length() > size)
              .count();

      assertEquals(server.calls(), whole);
      assertTrue(whole > 0);
    }
  }

  @Test
  void manyUnreadLargeResponsesFitIntoASmallHeap() throws Exception {
    int size = 5 << 20;
    Files.writeString(
        folder.resolve("bridge.json"),
        TestBridge.json("{'mcpServers':{'s':" + TestBridge.entry("'timeout':120") + "}}"));
    ProcessBuilder program =
        new ProcessBuilder(ServedBridge.command("--config", "bridge.json"))
            .directory(folder.toFile())
            .redirectError(folder.resolve("err").toFile());
    program.environment().put("JAVA_TOOL_OPTIONS", "-Xmx256m -XX:+ExitOnOutOfMemoryError");
    try (ServedBridge served = ServedBridge.from(program)) {
      int port = URI.create(served.url()).getPort();
      for (int i = 0; i < 200; i++) {
        readers.add(SlowReader.big(port, size, 0));
      }
      List<CompletableFuture<String>> heads = new ArrayList<>();
      for (SlowReader reader : readers) {
        heads.add(CompletableFuture.supplyAsync(() -> outcome(reader, size)));
      }

      List<String> outcomes = heads.stream().map(CompletableFuture::join).toList();

      assertTrue(
          outcomes.stream().allMatch(outcome -> outcome.equals("whole") || outcome.equals("503")),
          outcomes::toString);
      assertTrue(served.process().isAlive());
      HttpResponse<String> after =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create(served.url() + "/servers/s/tools/echo"))
                      .header("content-type", "application/json")
                      .POST(HttpRequest.BodyPublishers.ofString("{}"))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
      assertEquals(200, after.statusCode(), after.body());
    }
  }

  private static String outcome(SlowReader reader, int size) {
    try {
      String all = reader.readAll();
      return all.length() > size ? "whole" : all.substring(9, 12);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
