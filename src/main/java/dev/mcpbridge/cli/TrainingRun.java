package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.cli.agent.AgentProgram;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the common code paths once, so that the class-data archive contains their classes. */
final class TrainingRun {
  private TrainingRun() {}

  static void run(Bridge bridge) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (String path : List.of("/health/live", "/servers/git/tools", "/servers", "/tools")) {
      client.send(
          HttpRequest.newBuilder(URI.create(bridge.url() + path)).build(),
          HttpResponse.BodyHandlers.ofString());
    }
    client.send(
        HttpRequest.newBuilder(URI.create(bridge.url() + "/servers/git/tools/list_repositories"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build(),
        HttpResponse.BodyHandlers.ofString());
    AgentProgram.warmUp(URI.create(bridge.url()));
    bridge.close(Duration.ofSeconds(1)).await(30, TimeUnit.SECONDS);
  }
}
