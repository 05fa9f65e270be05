package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Talks to a running bridge: where it is, and with which key. */
final class BridgeClient {
  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      defaultValue = "${env:MCP_BRIDGE_URL:-http://127.0.0.1:3000}",
      description = "The bridge (default: MCP_BRIDGE_URL or http://127.0.0.1:3000).")
  private URI url;

  /** An answer: status and JSON; null where the body is none. */
  record Answer(int status, JsonNode body) {
    boolean ok() {
      return status < 300;
    }
  }

  Answer get(String path) throws IOException, InterruptedException {
    return send(request(path).GET());
  }

  Answer post(String path, String json) throws IOException, InterruptedException {
    return send(
        request(path)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json)));
  }

  private HttpRequest.Builder request(String path) {
    String base = url.toString().replaceAll("/+$", "");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofHours(1));
    String key = System.getenv("MCP_BRIDGE_KEY");
    return key == null ? request : request.header("authorization", "Bearer " + key);
  }

  private static Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    HttpResponse<byte[]> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    return new Answer(response.statusCode(), Json.tree(response.body()));
  }
}
