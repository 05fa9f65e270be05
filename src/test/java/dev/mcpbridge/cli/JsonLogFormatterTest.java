package dev.mcpbridge.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.LoggedFailure;
import dev.mcpbridge.protocol.Json;
import java.time.Instant;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class JsonLogFormatterTest {
  private final LogRecord event = new LogRecord(Level.WARNING, "a {0}");

  @AfterEach
  void reset() {
    JsonLogFormatter.setNode(null);
  }

  private JsonNode formatted() throws Exception {
    event.setLoggerName("dev.mcpbridge.X");
    event.setInstant(Instant.parse("2026-01-02T03:04:05.678Z"));
    String line = new JsonLogFormatter().format(event);
    assertEquals(1, line.lines().count(), line);
    return Json.mapper().readTree(line);
  }

  @Test
  void anEventIsOneObjectOnALine() throws Exception {
    event.setParameters(new Object[] {"\"line\n\u001b[1m\u2028"});

    JsonNode object = formatted();

    assertEquals("2026-01-02T03:04:05.678Z", object.path("timestamp").asText());
    assertEquals("WARN", object.path("severity_text").asText());
    assertEquals("a \"line\n\u001b[1m\u2028", object.path("body").asText());
    assertEquals("dev.mcpbridge.X", object.path("logger").asText());
    assertFalse(object.has("node"));
    assertFalse(object.has("trace_id"));
  }

  @Test
  void aFailureOfACallHasItsIds() throws Exception {
    JsonLogFormatter.setNode("n1");
    event.setParameters(
        new Object[] {
          new LoggedFailure(
              "s", "echo", "c1", "0af7", "b7ad", ErrorCode.UPSTREAM_CRASHED, "it ended")
        });

    JsonNode object = formatted();

    assertEquals("n1", object.path("node").asText());
    assertEquals("0af7", object.path("trace_id").asText());
    assertEquals("b7ad", object.path("span_id").asText());
    assertEquals("s", object.path("server").asText());
    assertEquals("echo", object.path("tool").asText());
    assertEquals("c1", object.path("callId").asText());
    assertEquals("upstream_crashed", object.path("code").asText());
    assertEquals(
        "a server=s code=upstream_crashed call=c1 detail=it ended", object.path("body").asText());
  }

  @Test
  void anExceptionHasItsStackAndLongTextsAreCut() throws Exception {
    event.setThrown(new IllegalStateException("broken"));
    event.setParameters(new Object[] {"x".repeat(100_000)});

    JsonNode object = formatted();

    assertTrue(object.path("exception").asText().contains("JsonLogFormatterTest"));
    assertEquals(4000, object.path("body").asText().length());
  }
}
