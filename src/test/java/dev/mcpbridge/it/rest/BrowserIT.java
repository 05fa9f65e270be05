package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
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
  void userAgreesAtTheConsentPage() throws Exception {
    String auth = TestBridge.auth(TestBridge.key("alice", KEY, "'read','call'"));
    try (ProtectedServer notes = new ProtectedServer();
        TestBridge bridge =
            TestBridge.of("{" + auth + ",'mcpServers':{'notes':" + notes.entry("") + "}}");
        Browser browser = new Browser(folder.resolve("user"))) {
      String call = "/servers/notes/tools/me";
      browser.open(URI.create(bridge.post(call, "{}", "x-api-key", KEY).at("/connect_url")));
      browser.until("document.querySelector('#key') !== null");
      browser.until("getComputedStyle(document.querySelector('main')).maxWidth === '544px'");

      browser.evaluate(
          "document.querySelector('#key').value = '"
              + KEY
              + "'; document.querySelector('button').click(); 1");

      browser.until("document.body && document.body.innerText.includes('Connected')");
      assertEquals("alice", bridge.post(call, "{}", "x-api-key", KEY).firstText());
      assertTrue(browser.errors().isEmpty(), browser.errors().toString());
    }
  }

  @Test
  void onlyPagesOfConfiguredOriginsCallTools() throws Exception {
    Path effects = folder.resolve("effects");
    try (EchoApi configured = EchoApi.start();
        EchoApi foreign = EchoApi.start();
        TestBridge bridge = TestBridge.of(config(configured, effects))) {
      bridge.until(() -> bridge.get("/servers/s", "x-api-key", KEY).at("/state").equals("ready"));

      JsonNode allowed = visit(configured, folder.resolve("known"), bridge);

      assertEquals(200, allowed.at("/echo/status").asInt(), allowed.toString());
      assertTrue(allowed.at("/echo/text").asText().contains("{\"m\":\"ü\"}"), allowed.toString());
      assertEquals(401, allowed.at("/keyless/status").asInt(), allowed.toString());
      assertEquals("text/event-stream", allowed.at("/stream/type").asText());
      assertTrue(
          allowed.at("/stream/text").asText().contains("event: progress"), allowed.toString());
      assertEquals(200, allowed.at("/effect/status").asInt());
      assertEquals(1, Files.readAllLines(effects).size());

      JsonNode refused = visit(foreign, folder.resolve("foreign"), bridge);

      refused.forEach(answer -> assertEquals("blocked", answer.path("status").asText()));
      assertFalse(Files.readAllLines(effects).size() > 1, "a foreign origin called a tool");
    }
  }

  private static String config(EchoApi configured, Path effects) {
    return "{'http':{'cors':{'origins':['%s']}},'auth':{'keys':[%s]},'mcpServers':{'s':%s}}"
        .formatted(
            configured.url(""),
            TestBridge.key("page", KEY, "'read','call'"),
            TestBridge.entry("'env':{'EFFECTS':'" + effects + "'}"));
  }

  /** Opens the page at a web site with its own origin and returns what the page reports to it. */
  private static JsonNode visit(EchoApi site, Path profile, TestBridge bridge) throws Exception {
    CompletableFuture<JsonNode> report = new CompletableFuture<>();
    String page = PAGE.replace("KEY", KEY).replace("BRIDGE", bridge.uri("").toString());
    site.on("/", 200, "text/html; charset=utf-8", page)
        .on(
            "/report",
            (request, peer) -> {
              report.complete(Json.mapper().readTree(request.text()));
              return peer.write(204, null, new byte[0]);
            });
    try (Browser browser = new Browser(profile)) {
      browser.open(URI.create(site.url("/")));
      return report.get(60, TimeUnit.SECONDS);
    }
  }
}
