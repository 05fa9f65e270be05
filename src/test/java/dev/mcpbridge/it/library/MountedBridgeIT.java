package dev.mcpbridge.it.library;

import static dev.mcpbridge.fixture.HostProgram.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The routes of a bridge under a path of another program's HTTP server. */
@Tag("program")
class MountedBridgeIT {
  private static final String ONE = "{'mcpServers':{'s':" + TestBridge.entry("") + "}}";
  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",\
      "capabilities":{},"clientInfo":{"name":"t","version":"1"}}}""";

  @Test
  void toolIsCalledUnderTheMountPointAndTheProgramKeepsItsOtherPaths() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      String url = program.mountedAt("/tools");

      HttpResponse<String> called = program.send(url + "/servers/s/tools/echo", "{\"a\":1}");
      HttpResponse<String> own = program.send(url.replace("/tools", "/hello"), null);
      HttpResponse<String> unknownHere = program.send(url + "/nothing", null);
      HttpResponse<String> unknownThere = program.send(url.replace("/tools", "/nothing"), null);

      assertEquals(200, called.statusCode(), called.body());
      assertTrue(called.body().contains("\"a\":1"), called.body());
      assertEquals("hello", own.body());
      assertEquals("not_found", new JsonObject(unknownHere.body()).getString("code"));
      assertEquals(404, unknownThere.statusCode());
      assertFalse(unknownThere.body().contains("not_found"), unknownThere.body());
    }
  }

  @Test
  void bodyThatTheProgramHasReadIsUsed() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      Router router = Router.router(program.vertx());
      router.route().handler(BodyHandler.create(false));
      String url = program.mountedAt("/tools", router);

      HttpResponse<String> called = program.send(url + "/servers/s/tools/echo", "{\"a\":1}");

      assertEquals(200, called.statusCode(), called.body());
      assertTrue(called.body().contains("\"a\":1"), called.body());
    }
  }

  @Test
  void addressesInAnswersIncludeTheMountPoint() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      String url = program.mountedAt("/api/tools");

      HttpResponse<String> accepted =
          program.send(url + "/servers/s/tools/echo", "{}", "prefer", "respond-async");
      String location = accepted.headers().firstValue("location").orElseThrow();
      JsonObject contract = new JsonObject(program.send(url + "/openapi.json", null).body());
      JsonObject tools = new JsonObject(program.send(url + "/tools/openapi.json", null).body());

      assertTrue(location.startsWith("/api/tools/calls/"), location);
      assertEquals(200, program.send(url.replace("/api/tools", location), null).statusCode());
      assertEquals(
          "/api/tools", contract.getJsonArray("servers").getJsonObject(0).getString("url"));
      assertEquals(url, tools.getJsonArray("servers").getJsonObject(0).getString("url"));
    }
  }

  @Test
  void bothErasOfMcpAreServed() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      String url = program.mountedAt("/tools");

      HttpResponse<String> opened =
          program.send(url + "/mcp", INITIALIZE, "accept", "application/json, text/event-stream");
      String session = opened.headers().firstValue("mcp-session-id").orElseThrow();
      HttpResponse<String> listed =
          program.send(
              url + "/servers/s/mcp",
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                  + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                  + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
              "accept",
              "application/json, text/event-stream",
              "mcp-protocol-version",
              "2026-07-28",
              "mcp-method",
              "tools/list");

      assertFalse(session.isEmpty());
      assertEquals(200, listed.statusCode(), listed.body());
      assertTrue(listed.body().contains("\"echo\""), listed.body());
    }
  }

  @Test
  void endpointOfTheLegacyEventStreamIncludesTheMountPoint() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      String url = program.mountedAt("/tools");
      HttpURLConnection stream =
          (HttpURLConnection) URI.create(url + "/sse").toURL().openConnection();
      stream.setRequestProperty("accept", "text/event-stream");

      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(stream.getInputStream(), StandardCharsets.UTF_8))) {
        String event = lines.readLine();
        while (!event.startsWith("event:")) {
          event = lines.readLine();
        }
        String data = lines.readLine();
        HttpResponse<String> posted =
            program.send(url.replace("/tools", data.substring("data: ".length())), INITIALIZE);

        assertEquals("event: endpoint", event);
        assertTrue(data.startsWith("data: /tools/sse?sessionId="), data);
        assertEquals(202, posted.statusCode(), posted.body());
      }
    }
  }

  @Test
  void keysAreRequiredAsOnTheListener() throws Exception {
    String key = ApiKeys.generate();
    String config =
        "{" + TestBridge.auth(TestBridge.key("k", key, "'read','call'")) + "," + ONE.substring(1);
    try (HostProgram program = HostProgram.with(config)) {
      String url = program.mountedAt("/tools");

      assertEquals(401, program.send(url + "/servers/s/tools/echo", "{}").statusCode());
      assertEquals(
          200, program.send(url + "/servers/s/tools/echo", "{}", "x-api-key", key).statusCode());
      assertEquals(
          403,
          program.send(url + "/servers", "{\"command\":\"true\"}", "x-api-key", key).statusCode());
    }
  }

  @Test
  void foreignOriginsAndHostNamesAreRefused() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      String url = program.mountedAt("/tools");

      HttpResponse<String> foreign =
          program.send(url + "/servers/s/tools/echo", "{}", "origin", "https://evil.example");
      HttpResponse<String> own =
          program.send(url + "/servers/s/tools/echo", "{}", "origin", url.replace("/tools", ""));

      assertEquals(403, foreign.statusCode(), foreign.body());
      assertEquals(200, own.statusCode(), own.body());
    }
  }

  @Test
  void healthIsServedAndPagesForBrowsersAreNot() throws Exception {
    String open =
        "{'http':{'openHealth':true},'auth':{'keys':[%s]},"
                .formatted(TestBridge.key("k", ApiKeys.generate(), "'read'"))
            + ONE.substring(1);
    try (HostProgram program = HostProgram.with(open)) {
      String url = program.mountedAt("/tools");

      assertEquals(200, program.send(url + "/health/live", null).statusCode());
      for (String page : new String[] {"/console", "/docs", "/connect/x", "/oauth/callback"}) {
        assertEquals(404, program.send(url + page, null).statusCode(), page);
      }
      assertEquals(
          404, program.send(url + "/.well-known/oauth-protected-resource", null).statusCode());
    }
  }

  @Test
  void requestOnAnotherEventLoopIsRefusedWithTheReason() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      int refused = 0;
      int served = 0;
      for (int i = 0; i < 4; i++) {
        ServingVerticle verticle = new ServingVerticle(program.bridge().router());
        get(program.vertx().deployVerticle(verticle));
        HttpResponse<String> called =
            program.send("http://127.0.0.1:" + verticle.port + "/tools/servers/s/tools/echo", "{}");
        if (called.statusCode() == 200) {
          served++;
        } else {
          refused++;
          assertEquals(500, called.statusCode());
          assertTrue(called.body().contains("another event loop"), called.body());
        }
      }

      assertTrue(refused > 0, "of four verticles on four loops, some are on another loop");
      assertEquals(4, refused + served);
    }
  }

  private static final class ServingVerticle extends VerticleBase {
    private final Router mounted;
    private int port;

    ServingVerticle(Router mounted) {
      this.mounted = mounted;
    }

    @Override
    public Future<?> start() {
      Router router = Router.router(vertx);
      router.route("/tools/*").subRouter(mounted);
      return vertx
          .createHttpServer()
          .requestHandler(router)
          .listen(0, "127.0.0.1")
          .onSuccess(server -> port = server.actualPort());
    }
  }
}
