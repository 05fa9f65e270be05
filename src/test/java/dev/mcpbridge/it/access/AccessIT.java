package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.Writer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** API keys, scopes, and requests from browsers of other origins. */
@Tag("access")
class AccessIT {
  /** Their credential is a ticket or a state; the metadata of the bridge is no secret. */
  private static final Set<String> WITHOUT_CREDENTIAL =
      Set.of(
          "/console/login",
          "/connect/{ticket}",
          "/oauth/callback",
          "/oauth/callback/{server}",
          "/oauth/client.json");

  private static final String READER = ApiKeys.generate();
  private static final String CALLER = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.of(
            "{'http':{'cors':{'origins':['https://app.example']}},'auth':{'keys':["
                + TestBridge.key("reader", READER, "'read'")
                + ","
                + TestBridge.key("caller", CALLER, "'read','call'")
                + ","
                + TestBridge.key("boss", BOSS, "'read','call','approve','admin'")
                + "]},'risk':{'approver':'operator','pendingStatus':202},'mcpServers':{'s':"
                + TestBridge.entry("'risk':{'tools':{'big':2}}")
                + "}}");
    bridge.until(() -> as(BOSS, "/servers/s").at("/state").equals("ready"));
  }

  @Test
  void everyRouteRequiresAKey() throws Exception {
    JsonNode paths = as(READER, "/openapi.json").body().path("paths");
    assertTrue(paths.size() > 15);
    for (var path : paths.properties()) {
      if (WITHOUT_CREDENTIAL.contains(path.getKey())) {
        continue;
      }
      String concrete = path.getKey().replaceAll("\\{\\w+}", "x");
      for (String credential : new String[] {null, "wrong", CALLER + "x"}) {
        Answer get =
            credential == null
                ? bridge.get(concrete)
                : bridge.get(concrete, "authorization", "Bearer " + credential);
        assertEquals(401, get.status(), concrete);
        assertEquals("Bearer", get.header("www-authenticate"));
        assertEquals(401, bridge.post(concrete, "{}").status(), concrete);
        assertEquals(401, bridge.delete(concrete).status(), concrete);
      }
    }
    assertEquals(401, bridge.get("/servers?token=" + BOSS).status());
    assertEquals(401, bridge.get("/servers", "authorization", "Basic " + BOSS).status());
  }

  /** What proxies use to say who calls, or what, would skip the check if it were believed. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x-forwarded-for|127.0.0.1",
        "forwarded|for=127.0.0.1;host=localhost",
        "x-real-ip|127.0.0.1",
        "x-original-url|/health/live",
        "x-rewrite-url|/health/live",
        "x-forwarded-user|boss",
        "remote-user|boss",
        "x-forwarded-host|localhost",
        "x-mcp-bridge-node|n2"
      })
  void headersInPlaceOfACredentialAreIgnored(String name, String value) throws Exception {
    assertEquals(401, bridge.get("/servers", name, value).status());
    assertEquals(401, bridge.post("/servers/s/tools/echo", "{}", name, value).status());
    assertEquals(401, bridge.post("/mcp", "{}", name, value).status());
  }

  @Test
  void aCommandWithoutAKeyReportsHowToSetIt() throws Exception {
    for (String command : List.of("tools", "stdio")) {
      ProcessBuilder builder =
          new ProcessBuilder(PackagedProgram.command(command, "--url", bridge.uri("").toString()));
      builder.environment().remove("MCP_BRIDGE_KEY");
      Process program = builder.start();
      try (Writer in = program.outputWriter()) {
        in.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
      }
      String err = new String(program.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(1, program.waitFor(), err);
      assertEquals(1, err.lines().count(), err);
      assertTrue(err.contains("401") && err.contains("MCP_BRIDGE_KEY"), err);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/", "/docs", "/docs/docs.js", "/health", "/metrics", "/servers", "/nowhere"})
  void everyResponseHasNosniff(String path) throws Exception {
    assertEquals("nosniff", bridge.get(path, "x-api-key", READER).header("x-content-type-options"));
  }

  @Test
  void foreignSitesMayNavigateToPagesButNotEmbed() throws Exception {
    for (String site : List.of("cross-site", "same-site")) {
      Answer image =
          bridge.get(
              "/servers", "x-api-key", READER, "sec-fetch-site", site, "sec-fetch-mode", "no-cors");
      assertEquals(403, image.status(), image.toString());
      assertEquals("origin_not_allowed", image.code());
      Answer opened =
          bridge.get(
              "/servers",
              "x-api-key",
              READER,
              "sec-fetch-site",
              site,
              "sec-fetch-mode",
              "navigate");
      assertEquals(403, opened.status(), opened.toString());
      for (String page : List.of("/docs", "/console")) {
        Answer followed = bridge.get(page, "sec-fetch-site", site, "sec-fetch-mode", "navigate");
        assertEquals(200, followed.status(), page + followed);
      }
    }
    assertEquals(
        200, bridge.get("/servers", "x-api-key", READER, "sec-fetch-site", "none").status());
  }

  /** It is public, so that it names only servers to which users are sent back. */
  @Test
  void descriptionOfTheBridgeAsAClientNamesOnlyServersThatUsersConsentTo() throws Exception {
    String entry = "'%s':{'url':'https://%1$s.example/mcp','oauth':{%s}}";
    String service =
        "'as':'service','issuers':['https://id.example'],'clientId':'c','clientSecret':'s'";
    try (TestBridge other =
        TestBridge.of(
            "{'mcpServers':{"
                + entry.formatted("asks", "")
                + ","
                + entry.formatted("hidden", service)
                + "}}")) {
      String document = other.get("/oauth/client.json").text();

      assertTrue(document.contains("/oauth/callback/asks"), document);
      assertFalse(document.contains("hidden"), document);
    }
  }

  @Test
  void theFrontPageNeedsNoKey() throws Exception {
    Answer page = bridge.get("/");

    assertEquals(200, page.status(), page.toString());
    assertEquals("mcp-bridge", page.at("/name"));
    assertEquals("/docs", page.at("/links/docs"));
    assertEquals(3, page.body().size(), page.toString());
    assertEquals(200, head("/"));
  }

  private static int head(String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(bridge.uri(path))
            .method("HEAD", HttpRequest.BodyPublishers.noBody())
            .build();
    return bridge.client().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  @Test
  void openHealthShowsOnlyTheStatusWithoutAKey() throws Exception {
    try (TestBridge own =
        TestBridge.of(
            "{'http':{'openHealth':true},'auth':{'keys':[%s]},'mcpServers':{'s':%s}}"
                .formatted(TestBridge.key("reader", READER, "'read'"), TestBridge.entry("")))) {
      own.until(() -> own.get("/health/ready").status() == 200);

      assertEquals("{\"status\":\"ready\"}", own.get("/health/ready").text());
      assertEquals("{\"status\":\"ok\"}", own.get("/health/live").text());
      assertEquals("{\"status\":\"ok\"}", own.get("/health").text());
      assertEquals(1, own.get("/health", "x-api-key", READER).body().path("serverCount").asInt());
      assertEquals(401, own.get("/health", "x-api-key", CALLER).status());
      assertEquals(401, own.post("/health", "{}").status());
      assertEquals(401, own.get("/servers").status());
      assertEquals(401, own.get("/metrics").status());
    }
    assertEquals(401, head("/health/live"));
  }

  @Test
  void scopesAreEnforced() throws Exception {
    String definition = "{\"id\":\"x\",\"command\":\"touch\"}";
    assertEquals(200, as(READER, "/servers").status());
    assertEquals(200, bridge.get("/servers", "x-api-key", READER).status());
    assertEquals(403, post(READER, "/servers/s/tools/echo", "{}").status());
    assertEquals(200, post(CALLER, "/servers/s/tools/echo", "{}").status());
    assertEquals(403, post(CALLER, "/servers", definition).status());
    assertEquals(403, post(CALLER, "/servers/s/restart", "{}").status());
    assertEquals(403, bridge.delete("/servers/s", "authorization", "Bearer " + CALLER).status());
    assertEquals(404, as(BOSS, "/servers/x").status());
  }

  @Test
  void onlyTheOperatorMayApprove() throws Exception {
    Answer pending = post(CALLER, "/servers/s/tools/big", "{\"size\":1}");
    assertEquals(202, pending.status());
    assertTrue(pending.body().path("token").isMissingNode());
    String path = "/confirmations/" + pending.at("/confirmation_id");
    String yes = "{\"confirm\":true}";

    assertEquals(403, post(CALLER, path, yes).status());
    assertEquals(403, post(READER, path, yes).status());
    assertEquals("caller", as(BOSS, path).at("/caller"));
    Answer done = post(BOSS, path, yes);

    assertEquals("x", done.firstText());
    assertEquals(404, post(BOSS, path, yes).status());
  }

  @Test
  void aBackgroundCallIsHiddenFromOtherCallers() throws Exception {
    String location =
        bridge
            .call(
                "sleep",
                "{\"ms\":10}",
                "authorization",
                "Bearer " + CALLER,
                "prefer",
                "respond-async")
            .header("location");

    assertEquals(200, as(CALLER, location).status());
    assertEquals(404, as(BOSS, location).status());
  }

  @Test
  void preflightsAreAcceptedOnlyFromConfiguredOrigins() throws Exception {
    HttpResponse<String> allowed = preflight("https://app.example");
    assertEquals(204, allowed.statusCode());
    assertEquals(
        "https://app.example",
        allowed.headers().firstValue("access-control-allow-origin").orElse(null));

    HttpResponse<String> foreign = preflight("https://evil.example");
    assertEquals(403, foreign.statusCode());
    assertNull(foreign.headers().firstValue("access-control-allow-origin").orElse(null));

    Answer call =
        bridge.call(
            "echo", "{}", "origin", "https://app.example", "authorization", "Bearer " + CALLER);
    assertEquals(200, call.status());
    assertEquals("https://app.example", call.header("access-control-allow-origin"));
    assertEquals("origin", call.header("vary"));
  }

  @Test
  void mcpRequiresAKeyAndEnforcesScopes() throws Exception {
    McpClient reader =
        new McpClient(bridge.uri("/servers/s/mcp"), "{}", "authorization", "Bearer " + READER);
    McpClient caller = new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", CALLER);

    assertEquals(401, new McpClient(bridge.uri("/mcp"), "{}").post("{}").status());
    assertTrue(reader.stateless("tools/list", "").result().path("tools").size() > 5);
    String echo = "\"name\":\"echo\",\"arguments\":{}";
    assertEquals(403, reader.stateless("tools/call", echo).status());
    assertEquals(200, caller.stateless("tools/call", echo).status());
    caller.initialize();
    assertEquals(
        404,
        reader
            .post(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
                "mcp-session-id",
                caller.session())
            .status());
    String text = caller.call("big", "{\"size\":1}").firstText();
    assertTrue(text.contains("a principal with the scope approve must confirm it"), text);
  }

  private static HttpResponse<String> preflight(String origin) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(bridge.uri("/servers/s/tools/echo"))
            .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type,authorization")
            .build();
    return bridge.client().send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static Answer as(String key, String path) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + key);
  }

  private static Answer post(String key, String path, String body) throws Exception {
    return bridge.post(path, body, "authorization", "Bearer " + key);
  }
}
