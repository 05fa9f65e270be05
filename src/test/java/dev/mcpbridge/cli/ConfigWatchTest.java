package dev.mcpbridge.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A watched configuration file while other nodes share theirs. */
@Timeout(30)
class ConfigWatchTest {
  private static final String OLD = servers("old");

  private final ConfigReader reader = new ConfigReader(Map.of("PORT", "0"));
  private final HttpClient client = HttpClient.newHttpClient();
  @TempDir private Path folder;
  private Path file;
  private Bridge bridge;

  /** A configuration with these servers, all unreachable. */
  private static String servers(String... names) {
    return "{\"mcpServers\":{\""
        + String.join("\":{\"url\":\"http://127.0.0.1:1/mcp\"},\"", names)
        + "\":{\"url\":\"http://127.0.0.1:1/mcp\"}}}";
  }

  @BeforeEach
  void start() throws Exception {
    file = Files.writeString(folder.resolve("bridge.json"), OLD);
    bridge = Bridge.start(reader.read(OLD, Strictness.ALL_OR_NOTHING)).await(20, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() throws Exception {
    bridge.close(Duration.ZERO).await(20, TimeUnit.SECONDS);
  }

  private void watch() {
    watch(OLD);
  }

  private void watch(String read) {
    new ConfigWatch(new ConfigFile(file), read, reader, bridge, true).start();
  }

  private void awaitServer(String name) throws Exception {
    URI server = URI.create(bridge.url() + "/servers/" + name);
    HttpRequest request = HttpRequest.newBuilder(server).build();
    until(() -> client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() == 200);
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void fileChangedDuringTheStartIsApplied() throws Exception {
    Files.writeString(file, servers("new"));

    watch();

    awaitServer("new");
  }

  @Test
  void invalidStartFileIsNotSharedEvenIfItIsTheNewest() throws Exception {
    String invalid = OLD.replace("}}}", "},\"wrong\":{\"command\":7}}}");
    Files.writeString(file, invalid);
    bridge.shareConfiguration(servers("theirs"), 1_000_000);

    watch(invalid);

    awaitServer("theirs");
    assertEquals(servers("theirs"), bridge.newestConfiguration().orElseThrow().text());
  }

  @Test
  void nodeWithAnInvalidFileFollowsOthersUntilItIsFixed() throws Exception {
    watch();
    Files.writeString(file, "{\"mcpServers\":");
    bridge.shareConfiguration(servers("theirs"), System.currentTimeMillis() + 1);
    awaitServer("theirs");

    Files.writeString(file, servers("ours"));

    awaitServer("ours");
  }

  @Test
  void sharedFileWinsIfBothWereChangedAtTheSameTime() throws Exception {
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
    bridge.shareConfiguration(servers("theirs"), 1_000_000);

    watch();

    awaitServer("theirs");
  }

  /** Otherwise a later change at a node whose clock is behind would seem to be older. */
  @Test
  void fileThatBecomesEqualToTheSharedOneIsSharedAnew() throws Exception {
    watch();
    String theirs = servers("theirs");
    bridge.shareConfiguration(theirs, System.currentTimeMillis());
    awaitServer("theirs");
    long before = bridge.newestConfiguration().orElseThrow().millis();

    Files.writeString(file, theirs);

    until(() -> bridge.newestConfiguration().orElseThrow().millis() > before);
    assertEquals(theirs, bridge.newestConfiguration().orElseThrow().text());
  }
}
