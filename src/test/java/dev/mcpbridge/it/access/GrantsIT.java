package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.api.McpBridge;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.CountedSocket;
import dev.mcpbridge.fixture.HeldAnswer;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.dns.AddressResolverOptions;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers have granted: its tokens, their renewal and end, and servers that lie. */
@Tag("access")
class GrantsIT {
  @AutoClose private final ProtectedServer notes = new ProtectedServer();
  @AutoClose private TestBridge bridge;

  GrantsIT() throws Exception {}

  private void start(String oauth) {
    bridge = TestBridge.of("{'mcpServers':{'notes':" + notes.entry(oauth) + "}}");
  }

  private void startConnected(String oauth) throws Exception {
    start(oauth);
    HttpResponse<String> page = connect();
    assertTrue(page.body().contains("Connected"), page.body());
    assertEquals("alice", call().firstText());
  }

  private String client() {
    return ",'clientId':'bridge','clientSecret':'secret','issuers':['" + notes.url("") + "']";
  }

  private HttpResponse<String> connect() throws Exception {
    return new ConsentBrowser().connect(call().at("/connect_url"), Map.of());
  }

  private Answer call() throws Exception {
    return bridge.post("/servers/notes/tools/me", "{}");
  }

  private List<Answer> callsAtOnce(int count) throws Exception {
    List<CompletableFuture<Answer>> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      calls.add(bridge.postLater("/servers/notes/tools/me", "{}"));
    }
    List<Answer> answers = new ArrayList<>();
    for (CompletableFuture<Answer> each : calls) {
      answers.add(each.get(30, TimeUnit.SECONDS));
    }
    return answers;
  }

  private long refreshes() {
    return notes.tokenRequests().stream().filter(body -> body.contains("=refresh_token")).count();
  }

  @Test
  void hundredCallsAtExpiryCauseOneRefreshAndLoseNoGrant() throws Exception {
    notes.expiresIn(1);
    startConnected("");
    notes.expiresIn(3600);
    bridge.until(() -> call().status() == 200 && refreshes() == 1);
    notes.revokeAccess();

    List<Answer> answers = callsAtOnce(100);

    answers.forEach(answer -> assertEquals("alice", answer.firstText(), answer.toString()));
    assertEquals(2, refreshes());
  }

  @Test
  void refreshTokenStaysIfTheAnswerHasNoNewOne() throws Exception {
    notes.rotates(false);
    startConnected("");
    for (int i = 1; i <= 3; i++) {
      notes.revokeAccess();
      assertEquals("alice", call().firstText());
      assertEquals(i, refreshes());
    }
  }

  @Test
  void userIsAskedAgainOnceTheGrantHasEnded() throws Exception {
    startConnected("");
    notes.revokeAll();

    assertEquals("consent_required", call().code());
    connect();

    assertEquals("alice", call().firstText());
  }

  @Test
  void callsWithAValidTokenDoNotWaitForAnAuthorizationServerThatIsDown() throws Exception {
    notes.expiresIn(10);
    startConnected("");
    long asked = notes.count("/token");
    notes.answer("/token", exchange -> IssuerStub.json(exchange, 503, "{}"));
    bridge.until(() -> call().status() == 200 && notes.count("/token") == asked + 1);

    callsAtOnce(5).forEach(answer -> assertEquals("alice", answer.firstText(), answer.toString()));

    assertEquals(asked + 1, notes.count("/token"));
  }

  @Test
  void authorizationServerThatIsDownCostsNoGrant() throws Exception {
    startConnected("");
    notes.revokeAccess();
    notes.answer("/token", exchange -> IssuerStub.json(exchange, 503, "{}"));

    Answer down = call();
    notes.heal();

    assertEquals("issuer_unavailable", down.code(), down.toString());
    assertEquals(503, down.status());
    assertEquals("no", down.at("/executed"));
    assertEquals("alice", call().firstText());
  }

  @Test
  void scopeThatIsMissingIsAskedForTogetherWithThoseGranted() throws Exception {
    startConnected("");
    notes.needs("write");

    Answer refused = call();

    assertEquals("consent_required", refused.code(), refused.toString());
    assertEquals("notes write", refused.at("/scope"));
    connect();
    assertEquals("alice", call().firstText());
  }

  @Test
  void serverThatIsNeverContentIsAskedForMoreTwiceAnHour() throws Exception {
    startConnected("");
    notes.needs("more than can be granted".replace(' ', '-'));
    notes.answer(
        "/token",
        exchange ->
            IssuerStub.json(
                exchange,
                200,
                "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"scope\":\"notes\"}"
                    .formatted(notes.secrets().get(0))));
    int consents = 0;
    while (call().code().equals("consent_required")) {
      connect();
      consents++;
      assertTrue(consents <= 2, "asked " + consents + " times");
    }

    assertEquals("forbidden", call().code());
    assertEquals(2, consents);
  }

  @Test
  void tokenThatIsRefusedAsSoonAsItWasRenewedLeadsToAConsent() throws Exception {
    startConnected("");
    notes.answer(
        "/mcp",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer scope=\"notes\"");
          IssuerStub.json(exchange, 401, "{}");
        });

    Answer refused = call();

    assertEquals("consent_required", refused.code(), refused.toString());
    assertEquals(1, refreshes());
  }

  @Test
  void serverOverHttpSseGetsTheCredentialOfItsCaller() throws Exception {
    notes.resourceMetadata().put("resource", notes.url("/sse"));
    bridge = TestBridge.of("{'mcpServers':{'notes':" + notes.sseEntry() + "}}");

    HttpResponse<String> page = connect();

    assertTrue(page.body().contains("Connected"), page.body());
    assertEquals("alice", call().firstText());
    notes.revokeAccess();
    assertEquals("alice", call().firstText(), "renewed");
    assertTrue(refreshes() == 1 && notes.calls().size() == 2, notes.calls().toString());
    notes.revokeAll();
    assertEquals("consent_required", call().code());
  }

  @Test
  void grantStaysWithTheServerForWhichItWasGiven() throws Exception {
    startConnected("");
    try (ProtectedServer other = new ProtectedServer()) {
      bridge.reload("{'mcpServers':{'notes':" + other.entry("") + "}}");

      Answer refused = call();

      assertEquals("consent_required", refused.code(), refused.toString());
      assertEquals(List.of("null"), List.copyOf(Set.copyOf(other.authorizations())));
      bridge.reload("{'mcpServers':{'notes':" + notes.entry("") + "}}");
      assertEquals("alice", call().firstText());
    }
  }

  @Test
  void answerForAServerThatWasReplacedMeanwhileIsNotRedeemed() throws Exception {
    start("");
    ConsentBrowser browser = new ConsentBrowser();
    HttpResponse<String> toIssuer = browser.agree(URI.create(call().at("/connect_url")), Map.of());
    try (ProtectedServer other = new ProtectedServer()) {
      bridge.reload("{'mcpServers':{'notes':" + other.entry("") + "}}");

      HttpResponse<String> page = browser.follow(toIssuer);

      assertEquals(502, page.statusCode(), page.body());
      assertEquals(0, notes.count("/token"));
    }
  }

  @Test
  void grantThatIsDeletedDuringItsRefreshStaysDeleted() throws Exception {
    startConnected("");
    notes.revokeAccess();
    HeldAnswer renewed =
        new HeldAnswer(
            exchange ->
                IssuerStub.json(
                    exchange,
                    200,
                    "{\"access_token\":\"renewed\",\"token_type\":\"Bearer\",\"refresh_token\":\"r\"}"));
    notes.answer("/token", renewed);
    CompletableFuture<Answer> running = bridge.postLater("/servers/notes/tools/me", "{}");
    renewed.awaitRequest();

    assertEquals(204, bridge.delete("/servers/notes/credentials").status());
    renewed.release();

    assertEquals("consent_required", running.get(20, TimeUnit.SECONDS).code());
    assertEquals("consent_required", call().code());
    assertEquals(2, notes.count("/revoke"));
  }

  @Test
  void registrationThatTheIssuerHasForgottenIsMadeAnew() throws Exception {
    startConnected("");
    notes.revokeAll();
    notes.answer(
        "/token", exchange -> IssuerStub.json(exchange, 401, "{\"error\":\"invalid_client\"}"));
    connect();
    notes.heal();

    assertTrue(connect().body().contains("Connected"));
    assertEquals(3, notes.count("/register"));
  }

  @Test
  void metadataThatWasWrongAtFirstIsReadAgain() throws Exception {
    notes.answer(
        "/mcp",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange
              .getResponseHeaders()
              .set("WWW-Authenticate", "Bearer resource_metadata=\"https://evil.example/x\"");
          IssuerStub.json(exchange, 401, "{}");
        });
    start("");
    assertEquals(502, connect().statusCode());
    notes.heal();

    assertTrue(connect().body().contains("Connected"));
  }

  @Test
  void deletedGrantIsRevoked() throws Exception {
    startConnected("");

    assertEquals(204, bridge.delete("/servers/notes/credentials").status());

    assertEquals(1, notes.count("/revoke"));
    assertTrue(notes.secrets().isEmpty(), notes.secrets().toString());
    assertEquals("consent_required", call().code());
  }

  @Test
  void tokensAreNeitherLoggedNorShown() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      startConnected("");
      String shown =
          bridge.get("/servers").text()
              + bridge.get("/whoami").text()
              + bridge.get("/metrics").text();
      notes.revokeAccess();
      String refused = call().text();
      notes.revokeAll();
      refused += call().text();
      for (String secret : notes.secrets()) {
        assertFalse((log.lines() + shown + refused).contains(secret), "a token is shown");
      }
      for (String body : notes.tokenRequests()) {
        String code = body.replaceAll(".*code=([^&]+).*", "$1");
        assertFalse(log.lines().toString().contains(code), "a code is logged");
      }
    }
  }

  /** What a server or its authorization server publishes, so that no user may be sent there. */
  enum Lie {
    OTHER_RESOURCE(notes -> notes.resourceMetadata().put("resource", "https://evil.example/mcp")),
    NO_ISSUER(notes -> notes.resourceMetadata().putArray("authorization_servers")),
    OTHER_ISSUER(notes -> notes.issuerMetadata().put("issuer", notes.url("/"))),
    NO_PKCE(notes -> notes.issuerMetadata().remove("code_challenge_methods_supported")),
    PLAIN_PKCE(
        notes -> notes.issuerMetadata().putArray("code_challenge_methods_supported").add("plain")),
    SCRIPT_ADDRESS(
        notes -> notes.issuerMetadata().put("authorization_endpoint", "javascript:alert(1)")),
    USER_IN_ADDRESS(
        notes ->
            notes
                .issuerMetadata()
                .put("authorization_endpoint", "https://bank.example@evil.example/")),
    UNPROTECTED_ADDRESS(
        notes ->
            notes.issuerMetadata().put("authorization_endpoint", "http://evil.example/authorize")),
    NO_REGISTRATION(notes -> notes.issuerMetadata().remove("registration_endpoint"));

    private final Consumer<ProtectedServer> publish;

    Lie(Consumer<ProtectedServer> publish) {
      this.publish = publish;
    }
  }

  @ParameterizedTest
  @EnumSource(Lie.class)
  void noUserIsSentToAnAuthorizationServerThatCannotBeTrusted(Lie lie) throws Exception {
    lie.publish.accept(notes);
    start("");

    HttpResponse<String> page = connect();

    assertEquals(502, page.statusCode(), page.body());
    assertTrue(page.body().contains("No authorization for server"), page.body());
    assertFalse(page.body().contains("evil.example/"), page.body());
    assertEquals(0, notes.count("/authorize"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://127.0.0.1:%d",
        "https://localhost:%d",
        "https://[::1]:%d",
        "https://[::ffff:127.0.0.1]:%d",
        "https://0x7f.1:%d",
        "https://2130706433:%d",
        "http://127.0.0.1:%d",
        "https://169.254.169.254",
        "https://10.1.2.3",
        "https://[fd00::1]",
        "file:///etc/passwd"
      })
  void addressesInsideTheNetworkAreNeverContacted(String address) throws Exception {
    try (CountedSocket inside = new CountedSocket()) {
      String issuer = address.formatted(inside.port());
      notes.resourceMetadata().putArray("authorization_servers").add(issuer);
      bridge =
          TestBridge.of(
              "{'mcpServers':{'notes':"
                  + notes.entry("").replace("'allowLoopback':true", "'allowLoopback':false")
                  + "}}");

      HttpResponse<String> page = connect();

      assertEquals(502, page.statusCode(), page.body());
      assertEquals(0, inside.connections());
    }
  }

  /** The metadata of a resource comes from the server itself, wherever its challenge points to. */
  @ParameterizedTest
  @ValueSource(strings = {"https://127.0.0.1:%d/x", "http://127.0.0.1:%d/x", "https://[::1]:%d/x"})
  void metadataOfAResourceIsNotFetchedFromAnotherHost(String url) throws Exception {
    try (CountedSocket inside = new CountedSocket()) {
      notes.answer(
          "/mcp",
          exchange -> {
            exchange
                .getResponseHeaders()
                .set(
                    "WWW-Authenticate",
                    "Bearer resource_metadata=\"" + url.formatted(inside.port()) + "\"");
            IssuerStub.json(exchange, 401, "{}");
          });
      start("");

      HttpResponse<String> page = connect();

      assertEquals(502, page.statusCode(), page.body());
      assertEquals(0, inside.connections());
      notes.heal();
      assertTrue(connect().body().contains("Connected"));
    }
  }

  @ParameterizedTest
  @CsvSource({"registration_endpoint, 502", "revocation_endpoint, 200"})
  void endpointInsideTheNetworkIsNotContacted(String endpoint, int status) throws Exception {
    try (CountedSocket inside = new CountedSocket()) {
      notes.issuerMetadata().put(endpoint, "https://127.0.0.1:" + inside.port() + "/x");
      String entry = notes.entry("").replace("'allowLoopback':true", "'allowLoopback':false");
      bridge = TestBridge.of("{'mcpServers':{'notes':" + entry + "}}");

      HttpResponse<String> page = connect();
      bridge.delete("/servers/notes/credentials");

      assertEquals(status, page.statusCode(), page.body());
      assertEquals(0, inside.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://10.1.2.3/token", "https://169.254.169.254/token"})
  void tokensAreNotFetchedFromAddressesInsideTheNetwork(String endpoint) throws Exception {
    notes.issuerMetadata().put("token_endpoint", endpoint);
    start(client());

    HttpResponse<String> page = connect();

    assertEquals(502, page.statusCode(), page.body());
    assertTrue(page.body().contains("its address is not public"), page.body());
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://127.0.0.1:%d", "https://localhost:%d"})
  void loopbackAddressesAreContactedIfTheOperatorAllowsIt(String address) throws Exception {
    try (CountedSocket inside = new CountedSocket()) {
      String issuer = address.formatted(inside.port());
      notes.resourceMetadata().putArray("authorization_servers").add(issuer);
      start("");

      connect();

      assertTrue(inside.connections() > 0);
    }
  }

  /** The name has one address when it is checked, and another one for every connection. */
  @Test
  void connectionGoesToTheCheckedAddressThoughItsNameHasAnotherOneMeanwhile() throws Exception {
    AddressResolverOptions changed =
        new AddressResolverOptions().setHostsValue(Buffer.buffer("127.0.0.2 localhost\n"));
    try (CountedSocket checked = CountedSocket.at("127.0.0.1", 0);
        CountedSocket later = CountedSocket.at("127.0.0.2", checked.port());
        HostProgram program =
            new HostProgram(new VertxOptions().setAddressResolverOptions(changed))) {
      String issuer = "https://localhost:" + checked.port();
      notes.resourceMetadata().putArray("authorization_servers").add(issuer);
      String config = "{'http':{'port':0},'mcpServers':{'notes':" + notes.entry("") + "}}";
      McpBridge host =
          McpBridge.start(program.vertx(), HostProgram.options(config).listening())
              .await(20, TimeUnit.SECONDS);
      String call = host.url().orElseThrow() + "/servers/notes/tools/me";

      String link = Json.tree(program.send(call, "{}").body()).path("connect_url").asText();
      new ConsentBrowser().connect(link, Map.of());

      assertTrue(checked.connections() > 0, link);
      assertEquals(0, later.connections());
      host.close().await(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void redirectsAndLargeOrSlowMetadataAreNotFollowed() throws Exception {
    String metadata = "/.well-known/oauth-authorization-server";
    start("");
    notes.answer(
        metadata,
        exchange -> {
          exchange.getResponseHeaders().set("location", notes.url("/elsewhere"));
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    assertEquals(502, connect().statusCode());
    notes.answer(
        metadata, exchange -> IssuerStub.json(exchange, 200, "{\"x\":\"" + "y".repeat(300_000)));
    assertEquals(502, connect().statusCode());
    notes.answer(metadata, exchange -> IssuerStub.json(exchange, 200, "<html>"));
    assertEquals(502, connect().statusCode());
    HeldAnswer never = new HeldAnswer();
    notes.answer(metadata, never);
    assertEquals(502, connect().statusCode());
    never.release();
    notes.heal();

    assertTrue(connect().body().contains("Connected"));
    assertEquals(0, notes.count("/elsewhere"));
  }

  @Test
  void configuredIssuerIsTheOnlyOne() throws Exception {
    start(",'issuers':['https://id.example']");
    assertEquals(502, connect().statusCode());
    bridge.close();

    start(",'issuers':['" + notes.url("") + "']");

    assertTrue(connect().body().contains("Connected"));
  }

  @Test
  void registrationIsReused() throws Exception {
    startConnected("");
    notes.revokeAll();
    call();
    connect();

    assertEquals("alice", call().firstText());
    assertEquals(1, notes.count("/register"));
  }

  @Test
  void bridgeUsesItsOwnCredentialsForAService() throws Exception {
    start(",'as':'service'" + client());
    bridge.awaitReady("notes");

    assertEquals("service", call().firstText());
    notes.revokeAccess();
    assertEquals("service", call().firstText());
    long tokens = notes.count("/token");
    callsAtOnce(10).forEach(answer -> assertEquals("service", answer.firstText()));
    assertEquals(tokens, notes.count("/token"));
  }

  @Test
  void listsMayBeReadWithTheCredentialsOfTheBridge() throws Exception {
    start(",'catalogue':'service'" + client());
    bridge.awaitReady("notes");

    assertEquals("consent_required", call().code());
    connect();

    assertEquals("alice", call().firstText());
    assertEquals("note:///service", bridge.get("/servers/notes/resources").at("/resources/0/uri"));
  }

  @Test
  void callOfAnApiCarriesTheCredentialOfItsCaller() throws Exception {
    bridge = TestBridge.of("{'mcpServers':{'notes':" + notes.apiEntry() + "}}");
    bridge.awaitReady("notes");

    Answer refused = bridge.post("/servers/notes/tools/me", "{}");
    assertEquals("consent_required", refused.code(), refused.toString());
    new ConsentBrowser().connect(refused.at("/connect_url"), Map.of());

    assertEquals("alice", call().at("/structuredContent/user"), call().toString());
    notes.revokeAccess();
    assertEquals("alice", call().at("/structuredContent/user"), call().toString());
    assertEquals(1, refreshes());
    notes.revokeAll();
    assertEquals("consent_required", call().code());
  }

  @Test
  void credentialOfAnApiIsAwaitedWithinTheTimeoutOfTheCallOnly() throws Exception {
    startApiConnected(",'timeout':1");
    notes.revokeAccess();
    HeldAnswer never = new HeldAnswer();
    notes.answer("/token", never);

    Answer late = call();
    never.release();

    assertEquals("deadline_exceeded", late.code(), late.toString());
    assertEquals("no", late.at("/executed"));
  }

  @Test
  void apiGetsNoCallOfAClientThatLeftDuringTheRefresh() throws Exception {
    startApiConnected("");
    notes.revokeAccess();
    HeldAnswer renewed =
        new HeldAnswer(
            exchange -> {
              notes.heal();
              IssuerStub.json(
                  exchange, 200, "{\"access_token\":\"renewed\",\"token_type\":\"Bearer\"}");
            });
    notes.answer("/token", renewed);
    CompletableFuture<Answer> leaving = bridge.postLater("/servers/notes/tools/me", "{}");
    renewed.awaitRequest();

    leaving.cancel(true);
    bridge.get("/servers/notes");
    renewed.release();

    bridge.until(
        () ->
            MetricsText.values(
                        bridge.get("/metrics").text(),
                        "mcp_bridge_calls_total{outcome=\"cancelled\",server=\"notes\"}")
                    .sum()
                == 1);
    assertFalse(notes.authorizations().contains("Bearer renewed"));
  }

  private void startApiConnected(String settings) throws Exception {
    String entry = notes.apiEntry().replace("'heartbeat':0", "'heartbeat':0" + settings);
    bridge = TestBridge.of("{'mcpServers':{'notes':" + entry + "}}");
    bridge.awaitReady("notes");
    connect();
    assertEquals("alice", call().at("/structuredContent/user"));
  }

  @Test
  void credentialThatACallerSendsItselfIsNotReplaced() throws Exception {
    bridge = TestBridge.of("{'mcpServers':{'notes':" + notes.apiEntry() + "}}");
    bridge.awaitReady("notes");

    Answer refused =
        bridge.post("/servers/notes/tools/me", "{}", "x-upstream-authorization", "Bearer other");

    assertEquals("upstream_error", refused.code(), refused.toString());
    assertEquals("no", refused.at("/executed"));
  }
}
