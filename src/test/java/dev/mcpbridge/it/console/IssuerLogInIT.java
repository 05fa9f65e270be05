package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.Pkce;
import dev.mcpbridge.fixture.Accessibility;
import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.OpenIdProvider;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TrailFiles;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A person logs in at the console with an OpenID provider, in a real browser. */
@Tag("program")
class IssuerLogInIT {
  @TempDir static Path folder;
  private static OpenIdProvider provider;
  private static TestBridge bridge;
  private static Browser browser;

  @BeforeAll
  static void open() throws Exception {
    browser = new Browser(folder.resolve("profile"));
    int port = FreePorts.find(1).get(0);
    provider = new OpenIdProvider(folder, "http://127.0.0.1:" + port + "/console");
    bridge =
        TestBridge.at(
            port,
            "{'audit':{'folder':'%s'},'auth':{'issuers':[{'name':'corp','issuer':'%s'}],'login':{'issuer':'corp','clientId':'pages','clientSecret':'pages-secret'}},'mcpServers':{'s':%s}}"
                .formatted(folder.resolve("trail"), provider.issuer(), TestBridge.entry("")));
    // the provider gives a client only the scope of read at its first request
    logIn("servers");
  }

  @AfterAll
  static void close() throws Exception {
    if (browser != null) {
      browser.close();
      bridge.close();
      provider.close();
    }
  }

  private static void visit(String address) throws Exception {
    browser.visit(bridge.uri(address));
    browser.until("document.readyState === 'complete'");
  }

  /** Opens a screen without a token, and logs in at the issuer. */
  private static void logIn(String screen) throws Exception {
    visit("/console");
    browser.evaluate("sessionStorage.clear()");
    visit("/console#/" + screen);
    browser.until("!!document.querySelector('dialog[open] [data-testid=issuer]')");
    browser.evaluate("document.querySelector('[data-testid=issuer]').click()");
    browser.until(
        "location.pathname === '/console' && !!document.querySelector('.principal')"
            + " && !document.querySelector('dialog[open]')");
  }

  private static String errors() {
    List<String> errors =
        browser.errors().stream().filter(error -> !error.contains("401")).toList();
    browser.errors().clear();
    return errors.toString();
  }

  @Test
  void personComesBackToTheScreenAndNoSecretIsInTheAddress() throws Exception {
    logIn("try");

    browser.until("document.querySelector('.principal').innerText.includes('corp|alice')");
    assertEquals("#/try", browser.evaluate("location.hash").asText());
    assertEquals("", browser.evaluate("location.search").asText());
    assertEquals("", browser.evaluate("document.cookie").asText());
    assertEquals("null", browser.evaluate("sessionStorage.getItem('mcp-bridge.login')").toString());
    browser.until("document.querySelector('main').innerText.includes('echo')");
    assertEquals("[]", errors());
  }

  @Test
  void logInAndRefusedCodeAreInTheAuditTrail() throws Exception {
    logIn("try");
    String body = "{\"code\":\"stolen\",\"verifier\":\"" + Pkce.random() + "\"}";
    bridge.post("/console/login", body, "origin", "http://127.0.0.1:" + bridge.port());

    bridge.until(() -> recorded("credential").contains("\"refused\":1"));
    bridge.until(() -> recorded("login").contains("corp|alice"));
    assertFalse(recorded("").contains("stolen"));
  }

  private static String recorded(String event) throws Exception {
    List<JsonNode> all = TrailFiles.records(folder.resolve("trail"));
    return (event.isEmpty() ? all : TrailFiles.of(all, event)).toString();
  }

  @Test
  void dialogIsAccessible() throws Exception {
    visit("/console");
    browser.evaluate("sessionStorage.clear()");
    visit("/console#/servers");
    browser.until("!!document.querySelector('dialog[open] [data-testid=issuer]')");

    assertEquals(List.of(), Accessibility.violations(browser));
    assertEquals("[]", errors());
  }

  @Test
  void answerToALogInOfAnotherTabIsRefused() throws Exception {
    visit("/console");
    browser.evaluate("sessionStorage.clear()");
    visit("/console?state=" + Pkce.random() + "&code=stolen");

    browser.until(
        "document.querySelector('dialog[open]')?.innerText.includes('did not begin in this tab')");
    assertEquals("", browser.evaluate("location.search").asText());
    assertEquals("[]", errors());
  }

  @Test
  void refusalOfTheIssuerIsShown() throws Exception {
    visit("/console");
    browser.evaluate(
        "sessionStorage.clear(); sessionStorage.setItem('mcp-bridge.login',"
            + " JSON.stringify({state: 'x', verifier: 'y', hash: ''}))");
    browser.open(bridge.uri("/console?state=x&error=access_denied&error_description=Not%20today"));

    browser.until(
        "document.querySelector('dialog[open]')?.innerText.includes('Not today') ?? false");
    assertEquals("[]", errors());
  }

  @Test
  void codeIsRedeemedForThePageOfTheBridgeOnly() throws Exception {
    String body = "{\"code\":\"x\",\"verifier\":\"" + Pkce.random() + "\"}";
    String own = "http://127.0.0.1:" + bridge.port();

    Answer wrong = bridge.post("/console/login", body, "origin", own);

    assertEquals(403, bridge.post("/console/login", body).status());
    assertEquals(
        403, bridge.post("/console/login", body, "origin", "http://evil.example").status());
    assertEquals("403 forbidden", wrong.status() + " " + wrong.code());
    assertEquals(400, bridge.post("/console/login", "{}", "origin", own).status());
    assertEquals(400, bridge.post("/console/login", "[", "origin", own).status());
    assertEquals(400, bridge.post("/console/login", "x".repeat(100_000), "origin", own).status());
    assertEquals(400, bridge.get("/console/login?state=short&challenge=short").status());
    assertTrue(bridge.get("/console/login").text().contains("\"issuer\":\"corp\""));
  }

  /** A bridge whose users log in at a stub. */
  private static TestBridge at(IssuerStub issuer) throws Exception {
    String login = "'login':{'issuer':'corp','clientId':'pages','clientSecret':'s'}";
    return TestBridge.of(
        "{'auth':{'issuers':[{'name':'corp','issuer':'%s'}],%s},'mcpServers':{}}"
            .formatted(issuer.url(), login));
  }

  @Test
  void issuerThatIsDownIsNamedAndStuckOnesLeaveRoomForOthers() throws Exception {
    CountDownLatch isOver = new CountDownLatch(1);
    String body = "{\"code\":\"x\",\"verifier\":\"" + Pkce.random() + "\"}";
    try (IssuerStub issuer = IssuerStub.at("");
        TestBridge other = at(issuer)) {
      String own = "http://127.0.0.1:" + other.port();
      String begin = "/console/login?state=" + Pkce.random() + "&challenge=" + Pkce.random();
      issuer.answer(
          "/.well-known/openid-configuration", exchange -> IssuerStub.json(exchange, 503, "{}"));
      issuer.answer(
          "/.well-known/oauth-authorization-server",
          exchange -> IssuerStub.json(exchange, 503, "{}"));
      assertEquals("issuer_unavailable", other.get(begin).code());
      assertEquals(503, other.post("/console/login", body, "origin", own).status());

      String metadata =
          "{\"issuer\":\"%1$s\",\"jwks_uri\":\"%1$s/jwks\",\"authorization_endpoint\":\"%1$s/auth\",\"token_endpoint\":\"%1$s/token\"}"
              .formatted(issuer.url());
      issuer.answer(
          "/.well-known/openid-configuration",
          exchange -> IssuerStub.json(exchange, 200, metadata));
      issuer.answer(
          "/token",
          exchange -> {
            try {
              isOver.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            IssuerStub.json(exchange, 400, "{\"error\":\"invalid_grant\"}");
          });
      other.until(() -> other.get(begin).status() != 503);
      List<CompletableFuture<Answer>> stuck = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        stuck.add(other.postLater("/console/login", body, "origin", own));
      }
      other.until(() -> issuer.count("/token") == 16);

      assertEquals(429, other.post("/console/login", body, "origin", own).status());

      isOver.countDown();
      for (CompletableFuture<Answer> each : stuck) {
        assertEquals(403, each.get(30, TimeUnit.SECONDS).status());
      }
      assertEquals(403, other.post("/console/login", body, "origin", own).status());
    }
  }

  /** An answer of another issuer leads to this one otherwise (RFC 9207). */
  @ParameterizedTest
  @CsvSource({",0", "https://evil.example,0", "own,1"})
  void codeIsRedeemedOnlyIfTheAnswerNamesItsIssuer(String iss, int redeemed) throws Exception {
    try (IssuerStub issuer = IssuerStub.at("");
        TestBridge other = at(issuer)) {
      String metadata =
          "{\"issuer\":\"%1$s\",\"jwks_uri\":\"%1$s/jwks\",\"token_endpoint\":\"%1$s/token\",\"authorization_response_iss_parameter_supported\":true}"
              .formatted(issuer.url());
      issuer.answer("/.well-known/openid-configuration", e -> IssuerStub.json(e, 200, metadata));
      String named = "own".equals(iss) ? issuer.url() : iss;
      String body =
          Json.object()
              .put("code", "c")
              .put("verifier", Pkce.random())
              .put("iss", named)
              .toString();

      Answer answer =
          other.post("/console/login", body, "origin", "http://127.0.0.1:" + other.port());

      assertEquals(403, answer.status(), answer.toString());
      assertEquals(redeemed, issuer.count("/token"));
    }
  }

  @Test
  void withoutAnIssuerOnlyAKeyIsAskedFor() throws Exception {
    try (TestBridge keys = TestBridge.of("{'auth':{'keys':[]},'mcpServers':{}}")) {
      assertTrue(keys.get("/console/login").text().contains("\"issuer\":null"));
      assertEquals(
          404,
          keys.get("/console/login?state=" + Pkce.random() + "&challenge=" + Pkce.random())
              .status());
    }
    try (TestBridge off = TestBridge.of("{'http':{'console':false},'mcpServers':{}}")) {
      assertEquals(404, off.get("/console/login").status());
      assertFalse(off.get("/").text().contains("console"));
    }
  }
}
