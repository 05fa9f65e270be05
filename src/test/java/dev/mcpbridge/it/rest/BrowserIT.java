package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Web pages in a real browser that use only {@code fetch}. */
@Tag("rest")
class BrowserIT {
  private static final String KEY = ApiKeys.generate();

  /** Reports the results to its own origin; requests that the browser forbids are "blocked". */
  private static final String PAGE =
      """
      <script>
      const key = {'x-api-key': 'KEY'}, json = {'content-type': 'application/json'};
      const call = (tool, body, headers) =>
        fetch('BRIDGE/servers/s/tools/' + tool, {method: 'POST', headers, body})
          .then(async r => ({status: r.status, type: r.headers.get('content-type'),
                             text: await r.text()}))
          .catch(e => ({status: 'blocked'}));
      (async () => {
        const report = {
          echo: await call('echo', '{"m":"ü"}', {...key, ...json}),
          keyless: await call('echo', '{}', json),
          stream: await call('progress', '{"steps":3}',
                             {...key, ...json, accept: 'text/event-stream'}),
          effect: await call('effect', '{"ms":0}', {...key, ...json}),
          form: await call('effect', '{"ms":0}', {'content-type': 'text/plain'}),
        };
        await fetch('/report', {method: 'POST', body: JSON.stringify(report)});
      })();
      </script>
      """;

  @TempDir Path folder;

  @Test
  void onlyPagesOfConfiguredOriginsCallTools() throws Exception {
    String chromium = Requirements.program("chromium", "chromium-browser", "google-chrome");
    Path effects = folder.resolve("effects");
    try (Site configured = new Site();
        Site foreign = new Site();
        TestBridge bridge = TestBridge.of(config(configured, effects))) {
      bridge.until(() -> bridge.get("/servers/s", "x-api-key", KEY).at("/state").equals("ready"));

      JsonNode allowed = configured.visit(chromium, folder.resolve("known"), bridge);

      assertEquals(200, allowed.at("/echo/status").asInt(), allowed.toString());
      assertTrue(allowed.at("/echo/text").asText().contains("{\"m\":\"ü\"}"), allowed.toString());
      assertEquals(401, allowed.at("/keyless/status").asInt(), allowed.toString());
      assertEquals("text/event-stream", allowed.at("/stream/type").asText());
      assertTrue(
          allowed.at("/stream/text").asText().contains("event: progress"), allowed.toString());
      assertEquals(200, allowed.at("/effect/status").asInt());
      assertEquals(1, Files.readAllLines(effects).size());

      JsonNode refused = foreign.visit(chromium, folder.resolve("foreign"), bridge);

      refused.forEach(answer -> assertEquals("blocked", answer.path("status").asText()));
      assertFalse(Files.readAllLines(effects).size() > 1, "a foreign origin called a tool");
    }
  }

  private static String config(Site configured, Path effects) {
    return "{'http':{'cors':{'origins':['"
        + configured.origin()
        + "']}},'auth':{'keys':[{'name':'page','sha256':'"
        + ApiKeys.fingerprint(KEY)
        + "','scopes':['read','call']}]},'mcpServers':{'s':"
        + TestBridge.entry("'env':{'EFFECTS':'" + effects + "'}")
        + "}}";
  }

  /** A web site with its own origin that serves the page and receives its report. */
  private static final class Site implements AutoCloseable {
    private final CompletableFuture<JsonNode> report = new CompletableFuture<>();
    private final HttpServer server;
    private String bridge;

    Site() throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext("/", this::page);
      server.createContext("/report", this::report);
      server.start();
    }

    String origin() {
      return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    JsonNode visit(String chromium, Path profile, TestBridge target) throws Exception {
      bridge = "http://127.0.0.1:" + target.port();
      Process browser =
          new ProcessBuilder(
                  chromium,
                  "--headless",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--disable-dev-shm-usage",
                  "--user-data-dir=" + profile,
                  origin() + "/")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        return report.get(60, TimeUnit.SECONDS);
      } finally {
        browser.descendants().forEach(ProcessHandle::destroyForcibly);
        browser.destroyForcibly().waitFor();
      }
    }

    private void page(HttpExchange exchange) throws IOException {
      byte[] page =
          PAGE.replace("KEY", KEY).replace("BRIDGE", bridge).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("content-type", "text/html; charset=utf-8");
      exchange.sendResponseHeaders(200, page.length);
      exchange.getResponseBody().write(page);
      exchange.close();
    }

    private void report(HttpExchange exchange) throws IOException {
      report.complete(Json.mapper().readTree(exchange.getRequestBody().readAllBytes()));
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }
}
