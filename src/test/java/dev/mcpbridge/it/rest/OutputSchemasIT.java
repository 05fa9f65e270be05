package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Results that violate the output schema of their tool. */
@Tag("rest")
class OutputSchemasIT {
  @Test
  void anInvalidResultIsPassedOnAndReported() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("");
        BufferedReader events = events(bridge)) {
      Answer valid = bridge.call("promise", "{\"n\":1}");
      bridge.until(
          () -> bridge.call("promise", "{\"n\":\"one\"}").status() == 200 && isReported(events));

      Answer invalid = bridge.call("promise", "{\"n\":1.5}");

      assertEquals(200, valid.status());
      assertTrue(invalid.text().contains("\"structuredContent\":{\"n\":1.5}"), invalid.text());
    }
  }

  /** Reads available events up to the next mismatch; returns whether there was one. */
  private static boolean isReported(BufferedReader events) throws Exception {
    while (events.ready()) {
      if (events.readLine().equals("event: output_mismatch")) {
        String data = events.readLine();
        assertTrue(data.contains("\"server\":\"s\",\"tool\":\"promise\""), data);
        assertTrue(data.contains("integer"), data);
        return true;
      }
    }
    return false;
  }

  private static BufferedReader events(TestBridge bridge) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(bridge.uri("/events")).build();
    return new BufferedReader(
        new InputStreamReader(
            bridge.client().send(request, HttpResponse.BodyHandlers.ofInputStream()).body(),
            StandardCharsets.UTF_8));
  }
}
