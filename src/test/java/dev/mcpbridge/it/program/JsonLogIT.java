package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log of the packaged program as JSON. */
@Tag("program")
class JsonLogIT {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  @TempDir private Path folder;

  @Test
  void eachLineIsAnObjectAndAFailedCallHasItsTrace() throws Exception {
    // Given
    String config =
        "{'telemetry':{'otlp':{'endpoint':'http://127.0.0.1:9'}},'mcpServers':{'s':"
            + TestBridge.entry("")
            + "}}";
    Path file = Files.writeString(folder.resolve("bridge.json"), TestBridge.json(config));
    String problem;

    // When
    try (ServedBridge bridge =
        ServedBridge.in(folder, "--config", file.toString(), "--log-format", "json")) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(bridge.url() + "/servers/s/tools/exit"))
              .header("content-type", "application/json")
              .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-00")
              .POST(HttpRequest.BodyPublishers.ofString("{\"code\":1}"))
              .build();
      problem =
          HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    // Then
    List<JsonNode> lines = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("err"))) {
      lines.add(Json.mapper().readTree(line));
    }
    JsonNode failure =
        lines.stream()
            .filter(line -> line.path("code").asText().equals("upstream_crashed"))
            .findFirst()
            .orElseThrow(() -> new AssertionError(lines.toString()));
    assertEquals("WARN", failure.path("severity_text").asText());
    assertEquals("s", failure.path("server").asText());
    assertEquals("exit", failure.path("tool").asText());
    assertEquals(TRACE, failure.path("trace_id").asText());
    assertEquals(TRACE, Json.mapper().readTree(problem).path("traceId").asText());
    assertEquals(
        Json.mapper().readTree(problem).path("requestId").asText(),
        failure.path("callId").asText());
    assertTrue(lines.stream().allMatch(line -> line.has("timestamp") && line.has("body")));
  }
}
