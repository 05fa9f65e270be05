package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.StdioPeer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Credentials for an API with an {@code authUrl}, which users enter at the consent page. */
@Tag("access")
class EnteredCredentialIT {
  private static final String ANN = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String SOURCE = "https://login.example/start?for=llm";

  @TempDir private Path folder;
  @AutoClose private EchoApi api;
  @AutoClose private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    ApiDocument document =
        ApiDocument.create()
            .with("get", "/mine", "mine", "")
            .with("get", "/forbidden", "forbidden", "");
    api =
        EchoApi.start()
            .on("/openapi.json", document.asScript())
            .on("/forbidden", 403, "text/plain", "not for you")
            .on("/mine", EchoApi.requiring("Bearer of-ann"));
    bridge = TestBridge.of(config("", SOURCE));
    bridge.until(() -> bridge.get("/servers/api", "x-api-key", ANN).at("/state").equals("ready"));
  }

  private String config(String settings, String source) {
    return ("{'auth':{'keys':[%s,%s]},"
            + "'mcpServers':{'api':{'type':'openapi','url':'%s','authUrl':'%s'%s}}}")
        .formatted(
            TestBridge.key("ann", ANN, "'read','call'"),
            TestBridge.key("bob", BOB, "'read','call'"),
            api.url("/openapi.json"),
            source,
            settings);
  }

  private Answer call(String key, String tool, String... headers) throws Exception {
    String[] all = new String[headers.length + 2];
    System.arraycopy(headers, 0, all, 2, headers.length);
    all[0] = "x-api-key";
    all[1] = key;
    return bridge.post("/servers/api/tools/" + tool, "{}", all);
  }

  private static HttpResponse<String> enter(String link, String key, String credential)
      throws Exception {
    return new ConsentBrowser().connect(link, Map.of("key", key, "credential", credential));
  }

  @ParameterizedTest
  @ValueSource(strings = {"of-ann", "Bearer of-ann", "  of-ann "})
  void callRunsWithTheCredentialThatItsUserEntered(String entered) throws Exception {
    Answer refused = call(ANN, "mine");
    assertEquals(403, refused.status(), refused.toString());
    assertEquals("consent_required", refused.code());
    assertEquals("no", refused.at("/executed"));

    HttpResponse<String> page = enter(refused.at("/connect_url"), ANN, entered);

    assertEquals(200, page.statusCode(), page.body());
    assertTrue(page.body().contains("Connected"), page.body());
    assertEquals("granted", call(ANN, "mine").firstText());
    assertEquals("consent_required", call(BOB, "mine").code());
  }

  @Test
  void pageLeadsToTheSourceOfTheCredential() throws Exception {
    String link = call(ANN, "mine").at("/connect_url");

    String page = new ConsentBrowser().open(URI.create(link)).body();

    assertTrue(page.contains("href=\"" + SOURCE + "\""), page);
    assertTrue(page.contains("target=\"_blank\" rel=\"noreferrer\""), page);
  }

  @Test
  void linkIsValidOnce() throws Exception {
    String link = call(ANN, "mine").at("/connect_url");
    assertEquals(200, enter(link, ANN, "of-ann").statusCode());

    assertEquals(404, enter(link, ANN, "of-mallory").statusCode());

    assertEquals("granted", call(ANN, "mine").firstText());
  }

  @Test
  void anotherUserStoresNothing() throws Exception {
    String link = call(ANN, "mine").at("/connect_url");

    HttpResponse<String> page = enter(link, BOB, "of-ann");

    assertEquals(403, page.statusCode(), page.body());
    assertEquals("consent_required", call(ANN, "mine").code());
    assertEquals("consent_required", call(BOB, "mine").code());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "grüße", "a\r\nX-Injected: 1"})
  void textThatCannotBeSentIsAskedForAgain(String entered) throws Exception {
    String link = call(ANN, "mine").at("/connect_url");

    HttpResponse<String> page = enter(link, ANN, entered);

    assertEquals(400, page.statusCode(), page.body());
    assertTrue(page.body().contains("not a credential"), page.body());
    assertEquals(200, enter(link, ANN, "of-ann").statusCode());
  }

  @Test
  void credentialThatTheApiRefusesIsAskedForAgain() throws Exception {
    enter(call(ANN, "mine").at("/connect_url"), ANN, "wrong");

    Answer refused = call(ANN, "mine");
    assertEquals("consent_required", refused.code(), refused.toString());
    enter(refused.at("/connect_url"), ANN, "of-ann");

    assertEquals("granted", call(ANN, "mine").firstText());
  }

  @Test
  void refusalOfAKnownUserIsAResult() throws Exception {
    assertEquals("consent_required", call(ANN, "forbidden").code());
    enter(call(ANN, "mine").at("/connect_url"), ANN, "of-ann");

    Answer forbidden = call(ANN, "forbidden");

    assertEquals(200, forbidden.status(), forbidden.toString());
    assertTrue(forbidden.firstText().startsWith("HTTP 403"), forbidden.toString());
  }

  @Test
  void callerThatSendsItsOwnCredentialIsNotSentToThePage() throws Exception {
    Answer refused = call(ANN, "mine", "x-upstream-authorization", "Bearer wrong");

    assertEquals("upstream_error", refused.code(), refused.toString());
    assertEquals(
        "granted", call(ANN, "mine", "x-upstream-authorization", "Bearer of-ann").firstText());
  }

  @Test
  void approvedCallWhoseCredentialHasEndedLeadsToAnotherOne() throws Exception {
    bridge.reload(config(",'riskLevel':2", SOURCE));
    bridge.until(() -> bridge.get("/servers/api", "x-api-key", ANN).at("/state").equals("ready"));
    store("wrong");
    Answer pending = call(ANN, "mine");
    assertTrue(pending.body().path("requires_confirmation").asBoolean(), pending.toString());

    Answer refused =
        bridge.post(
            "/confirmations/" + pending.at("/confirmation_id"),
            "{\"confirm\":true,\"token\":\"" + pending.at("/token") + "\"}",
            "x-api-key",
            ANN);

    assertEquals("consent_required", refused.code(), refused.toString());
    assertTrue(refused.at("/connect_url").contains("/connect/"), refused.toString());
  }

  private void store(String credential) throws Exception {
    assertEquals(
        204,
        bridge
            .put(
                "/servers/api/credentials",
                "{\"authorization\":\"Bearer " + credential + "\"}",
                "x-api-key",
                ANN)
            .status());
  }

  @Test
  void credentialIsNotSentToAnotherAddressOfTheServer() throws Exception {
    store("of-ann");
    assertEquals("granted", call(ANN, "mine").firstText());
    try (EchoApi other =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/mine", "mine", "").asScript())
            .on("/mine", 401, "text/plain", "who are you?")) {
      bridge.reload(config("", SOURCE).replace(api.url(""), other.url("")));
      bridge.until(() -> bridge.get("/servers/api", "x-api-key", ANN).at("/state").equals("ready"));

      assertEquals("consent_required", call(ANN, "mine").code());

      assertNull(other.lastRequest().header("authorization"));
    }
  }

  @Test
  void credentialIsNotSentToAnotherAddressInTheDocumentOfTheEntry() throws Exception {
    reloadWithDocumentOf(api);
    store("of-ann");
    assertEquals("granted", call(ANN, "mine").firstText());
    try (EchoApi other = EchoApi.start().on("/mine", 401, "text/plain", "who are you?")) {
      reloadWithDocumentOf(other);

      assertEquals("consent_required", call(ANN, "mine").code());

      assertNull(other.lastRequest().header("authorization"));
    }
  }

  private void reloadWithDocumentOf(EchoApi server) throws Exception {
    String document =
        ApiDocument.create()
            .with("get", "/mine", "mine", "")
            .set("servers", "[{'url':'" + server.url("") + "'}]")
            .text();
    bridge.reload(
        config("", SOURCE)
            .replace("'url':'" + api.url("/openapi.json") + "'", "'document':" + document));
    bridge.until(() -> bridge.get("/servers/api", "x-api-key", ANN).at("/state").equals("ready"));
  }

  @Test
  void deletedCredentialIsAskedForAgain() throws Exception {
    enter(call(ANN, "mine").at("/connect_url"), ANN, "of-ann");

    assertEquals(204, bridge.delete("/servers/api/credentials", "x-api-key", ANN).status());

    assertEquals("consent_required", call(ANN, "mine").code());
  }

  @Test
  void mcpClientIsSentToThePageAndGoesOn() throws Exception {
    String url = "{\"elicitation\":{\"url\":{}}}";
    McpClient client =
        new McpClient(bridge.uri("/servers/api/mcp"), url, "authorization", "Bearer " + ANN);
    String call = "\"name\":\"mine\",\"arguments\":{}";
    var asked = client.stateless("tools/call", call).result();
    assertEquals("input_required", asked.path("resultType").asText(), asked.toString());
    String link = asked.at("/inputRequests/consent/params/url").asText();

    enter(link, ANN, "of-ann");

    var answer =
        client
            .stateless(
                "tools/call",
                call
                    + ",\"inputResponses\":{\"consent\":{\"action\":\"accept\"}},\"requestState\":\""
                    + asked.path("requestState").asText()
                    + "\"")
            .result();
    assertEquals("granted", answer.at("/content/0/text").asText(), answer.toString());
  }

  @Test
  void userWhoCannotLogInIsToldBeforeTheyEnterAnything() throws Exception {
    RSAKey signer = TokenForge.rsa("r1");
    try (IssuerStub issuer = IssuerStub.at("", signer.toPublicJWK())) {
      bridge.reload(
          config("", SOURCE)
              .replace(
                  "'keys':",
                  "'issuers':[{'name':'corp','issuer':'%s','audiences':['all']}],'keys':"
                      .formatted(issuer.url())));
      String token =
          TokenForge.sign(signer, TokenForge.claims(issuer.url(), "all", "mcp:call").build());
      Answer refused =
          bridge.post("/servers/api/tools/mine", "{}", "authorization", "Bearer " + token);

      HttpResponse<String> page = new ConsentBrowser().open(URI.create(refused.at("/connect_url")));

      assertEquals(403, page.statusCode(), page.body());
      assertTrue(page.body().contains("auth.login"), page.body());
      assertFalse(page.body().contains("<form"), page.body());
    }
  }

  @Test
  void equalSubjectsOfTwoIssuersAndAKeyHaveCredentialsOfTheirOwn() throws Exception {
    RSAKey signer = TokenForge.rsa("r1");
    try (IssuerStub corp = IssuerStub.at("", signer.toPublicJWK());
        IssuerStub other = IssuerStub.at("", signer.toPublicJWK())) {
      bridge.reload(
          config("", SOURCE)
              .replace(
                  "'keys':",
                  ("'issuers':[{'name':'corp','issuer':'%s','audiences':['all']},"
                          + "{'name':'other','issuer':'%s','audiences':['all']}],'keys':")
                      .formatted(corp.url(), other.url())));
      String ofCorp = "Bearer " + TokenForge.token(signer, corp.url(), "ann");
      String ofOther = "Bearer " + TokenForge.token(signer, other.url(), "ann");
      String credential = "{\"authorization\":\"Bearer of-ann\"}";

      Answer stored = bridge.put("/servers/api/credentials", credential, "authorization", ofCorp);

      assertEquals(204, stored.status(), stored.toString());
      String mine = "/servers/api/tools/mine";
      assertEquals("granted", bridge.post(mine, "{}", "authorization", ofCorp).firstText());
      assertEquals("consent_required", bridge.post(mine, "{}", "authorization", ofOther).code());
      assertEquals("consent_required", call(ANN, "mine").code());
    }
  }

  @Test
  void userOfABridgeInTheirOwnProcessNeedsNoKey() throws Exception {
    Path config = folder.resolve("bridge.json");
    Files.writeString(
        config,
        TestBridge.json(
            "{'mcpServers':{'api':{'type':'openapi','url':'%s','authUrl':'%s'}}}"
                .formatted(api.url("/openapi.json"), SOURCE)));
    try (StdioPeer program =
        new StdioPeer(
            new ProcessBuilder(PackagedProgram.command("stdio", "-c", config.toString()))
                .redirectError(ProcessBuilder.Redirect.DISCARD))) {
      program.ask("initialize", "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}");
      String refused = program.ask("tools/call", "\"name\":\"api__mine\"");
      String link = refused.replaceAll("(?s).*(http://[^ ]+/connect/[\\w-]+).*", "$1");

      HttpResponse<String> page =
          new ConsentBrowser().connect(link, Map.of("credential", "of-ann"));

      assertEquals(200, page.statusCode(), refused + page.body());
      String answer = program.ask("tools/call", "\"name\":\"api__mine\"");
      assertTrue(answer.contains("granted"), answer);
    }
  }

  @Test
  void credentialIsNeitherLoggedNorShown() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      HttpResponse<String> page = enter(call(ANN, "mine").at("/connect_url"), ANN, "of-ann");
      String shown =
          page.body()
              + call(ANN, "mine").text()
              + bridge.get("/servers/api", "x-api-key", ANN).text()
              + bridge.get("/whoami", "x-api-key", ANN).text();

      assertFalse(shown.contains("of-ann"), shown);
      assertFalse(List.copyOf(log.lines()).toString().contains("of-ann"));
    }
  }
}
