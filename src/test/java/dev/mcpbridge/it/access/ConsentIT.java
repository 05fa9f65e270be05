package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers who agree that the bridge uses a server in their name, and links in wrong hands. */
@Tag("access")
class ConsentIT {
  private static final String ALICE = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String URL_MODE = "{\"elicitation\":{\"url\":{}}}";
  private static final String NO_MODE = "{}";

  @AutoClose private final ProtectedServer notes = new ProtectedServer();
  @AutoClose private TestBridge bridge;
  @TempDir private Path folder;

  ConsentIT() throws Exception {}

  @BeforeEach
  void start() {
    bridge =
        TestBridge.of(
            "{"
                + TestBridge.auth(
                    TestBridge.key("alice", ALICE, "'read','call'"),
                    TestBridge.key("bob", BOB, "'read','call'"))
                + ",'mcpServers':{'notes':"
                + notes.entry("")
                + "}}");
  }

  private Answer call(String key) throws Exception {
    return bridge.post("/servers/notes/tools/me", "{}", "x-api-key", key);
  }

  private static String link(Answer answer) {
    return answer.at("/connect_url");
  }

  private HttpResponse<String> agree(ConsentBrowser browser, String link, String key)
      throws Exception {
    return browser.connect(link, Map.of("key", key));
  }

  private void connect(String key, String user) throws Exception {
    notes.userIs(user);
    HttpResponse<String> page = agree(new ConsentBrowser(), link(call(key)), key);
    assertTrue(page.body().contains("Connected"), page.body());
  }

  /** Agrees, up to the answer of the authorization server, which is not opened. */
  private URI answer(ConsentBrowser browser) throws Exception {
    HttpResponse<String> toIssuer =
        browser.agree(URI.create(link(call(ALICE))), Map.of("key", ALICE));
    return browser.followTo(
        URI.create(toIssuer.headers().firstValue("location").orElseThrow()),
        bridge.uri("/oauth/callback").toString());
  }

  @Test
  void callWithoutConsentGetsALinkAndRunsOnceItsUserHasAgreed() throws Exception {
    Answer refused = call(ALICE);
    assertEquals(403, refused.status(), refused.toString());
    assertEquals("consent_required", refused.code());
    assertEquals("no", refused.at("/executed"));
    assertEquals("true", refused.at("/retryable"));
    assertTrue(refused.at("/detail").contains(link(refused)), refused.toString());
    assertNull(refused.header("www-authenticate"));

    HttpResponse<String> page = agree(new ConsentBrowser(), link(refused), ALICE);

    assertEquals(200, page.statusCode(), page.body());
    assertTrue(page.body().contains("Connected"), page.body());
    assertEquals("alice", call(ALICE).firstText());
  }

  @Test
  void callersHaveGrantsOfTheirOwn() throws Exception {
    connect(ALICE, "alice");
    connect(BOB, "bob");

    assertEquals("alice", call(ALICE).firstText());
    assertEquals("bob", call(BOB).firstText());
  }

  @Test
  void serverNeedsConsentUntilItsFirstUserHasAgreed() throws Exception {
    bridge.until(
        () -> bridge.get("/servers/notes", "x-api-key", BOB).at("/state").equals("needs_consent"));
    assertEquals("consent_required", bridge.get("/servers/notes/tools", "x-api-key", BOB).code());

    connect(ALICE, "alice");

    Answer listed = bridge.get("/servers/notes/tools", "x-api-key", BOB);
    assertEquals("me", listed.at("/tools/0/name"), listed.toString());
    assertEquals("consent_required", call(BOB).code());
  }

  @Test
  void resourcesOfTheFirstUserAreNotListedForOthers() throws Exception {
    connect(ALICE, "alice");

    Answer listed = bridge.get("/servers/notes/resources", "x-api-key", BOB);

    assertEquals(200, listed.status(), listed.toString());
    assertEquals(0, listed.body().path("resources").size(), listed.toString());
  }

  @Test
  void repeatedCallsGetTheSameLink() throws Exception {
    assertEquals(link(call(ALICE)), link(call(ALICE)));
  }

  @Test
  void oneLinkAsksForEverythingThatIsNeeded() throws Exception {
    Answer first = call(ALICE);
    String early = formToken(new ConsentBrowser().open(URI.create(link(first))).body());
    notes.needs("write");
    bridge.get("/servers/notes/tools", "x-api-key", BOB);
    connect(BOB, "bob");
    notes.revokeAll();
    call(BOB);

    Answer second = call(ALICE);

    assertEquals(link(first), link(second));
    String page = new ConsentBrowser().open(URI.create(link(second))).body();
    assertTrue(page.contains("notes write"), page);
    String own = bridge.uri("").toString().replaceAll("/$", "");
    String form = "form=" + early + "&key=" + ALICE;
    assertEquals(
        403, new ConsentBrowser().submit(URI.create(link(second)), form, own).statusCode());
  }

  private static String formToken(String page) {
    return page.replaceAll("(?s).*name=\"form\" value=\"([^\"]+)\".*", "$1");
  }

  @Test
  void tokenOfACallerWhoseKeyWasRemovedIsNotUsed() throws Exception {
    connect(ALICE, "alice");
    bridge.reload(
        "{"
            + TestBridge.auth(TestBridge.key("bob", BOB, "'read','call'"))
            + ",'mcpServers':{'notes':"
            + notes.entry(",'scopes':['notes']")
            + "}}");
    notes.revokeAccess();
    long refreshes = notes.count("/token");

    assertEquals("consent_required", call(BOB).code());
    assertEquals(refreshes, notes.count("/token"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"?state=%zz", "?state=a&state=b", "?code", "", "?state=%00"})
  void answerThatMakesNoSenseIsRefusedQuietly(String query) throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      assertTrue(statusLine("/oauth/callback/notes" + query).startsWith("HTTP/1.1 400"));
      assertFalse(log.lines().toString().contains("SEVERE"), log.lines().toString());
    }
  }

  @Test
  void consentsAreRecordedHoweverTheyEnd() throws Exception {
    // Given
    bridge.close();
    bridge =
        TestBridge.of(
            "{'audit':{'folder':'"
                + folder
                + "'},"
                + TestBridge.auth(
                    TestBridge.key("alice", ALICE, "'read','call'"),
                    TestBridge.key("bob", BOB, "'read','call','audit'"))
                + ",'mcpServers':{'notes':"
                + notes.entry("")
                + "}}");
    ConsentBrowser browser = new ConsentBrowser();

    // When: the link in wrong hands, a user who does not agree, a code that is not valid, consent
    agree(new ConsentBrowser(), link(call(ALICE)), BOB);
    browser.open(URI.create(answer(browser).toString().replaceAll("code=[^&]*", "error=no")));
    browser.open(URI.create(answer(browser).toString().replaceAll("code=[^&]*", "code=no")));
    connect(ALICE, "alice");

    // Then
    bridge.until(() -> consents().size() == 4);
    assertEquals(List.of("granted", "failed", "refused", "wrong_user"), consents());
  }

  private List<String> consents() throws Exception {
    return bridge
        .get("/audit?event=consent&principal=alice&server=notes", "x-api-key", BOB)
        .body()
        .path("records")
        .valueStream()
        .map(record -> record.path("outcome").asText())
        .toList();
  }

  @Test
  void linkInTheWrongHandsConnectsNothing() throws Exception {
    String link = link(call(ALICE));
    notes.userIs("bob");

    HttpResponse<String> page = agree(new ConsentBrowser(), link, BOB);

    assertEquals(403, page.statusCode());
    assertTrue(page.body().contains("not the key of alice"), page.body());
    assertEquals(0, notes.count("/authorize"));
    assertEquals("consent_required", call(ALICE).code());
    assertEquals("consent_required", call(BOB).code());
    assertTrue(agree(new ConsentBrowser(), link, ALICE).body().contains("Connected"));
  }

  @Test
  void linkIsValidOnce() throws Exception {
    String link = link(call(ALICE));
    agree(new ConsentBrowser(), link, ALICE);

    HttpResponse<String> again = agree(new ConsentBrowser(), link, ALICE);

    assertEquals(404, again.statusCode());
    assertTrue(again.body().contains("was used already"), again.body());
    assertEquals(1, notes.count("/authorize"));
  }

  @Test
  void answerIsValidOnceAndOnlyInItsBrowser() throws Exception {
    ConsentBrowser browser = new ConsentBrowser();
    URI answer = answer(browser);

    HttpResponse<String> elsewhere = new ConsentBrowser().open(answer);
    HttpResponse<String> first = browser.open(answer);
    HttpResponse<String> second = browser.open(answer);

    assertEquals(400, elsewhere.statusCode(), elsewhere.body());
    assertTrue(first.body().contains("Connected"), first.body());
    assertEquals(400, second.statusCode(), second.body());
    assertEquals(1, notes.count("/token"));
  }

  @Test
  void callerHasOneAuthorizationAtATimeWhichIsTheLast() throws Exception {
    ConsentBrowser browser = new ConsentBrowser();
    URI first = answer(browser);
    URI second = answer(browser);
    String forged = second.toString().replaceAll("(state=[^&.]+)[^&]*", "$1.forged");

    assertEquals(400, browser.open(first).statusCode());
    assertEquals(400, browser.open(URI.create(forged)).statusCode());
    assertEquals(0, notes.count("/token"));
    assertTrue(browser.open(second).body().contains("Connected"));
  }

  @Test
  void answerAtTheAddressOfAnotherServerIsRefused() throws Exception {
    ConsentBrowser browser = new ConsentBrowser();
    String answer = answer(browser).toString();

    HttpResponse<String> other =
        browser.open(URI.create(answer.replace("/callback/notes", "/callback/other")));

    assertEquals(400, other.statusCode());
    assertEquals(0, notes.count("/token"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://evil.example", "null", "http://127.0.0.1:1"})
  void formOfAnotherSiteIsRefused(String origin) throws Exception {
    URI link = URI.create(link(call(ALICE)));
    ConsentBrowser browser = new ConsentBrowser();
    String page = browser.open(link).body();
    String token = formToken(page);
    String form = "form=" + token + "&key=" + ALICE;

    assertEquals(403, browser.submit(link, form, origin).statusCode());
    String own = link.getScheme() + "://" + link.getAuthority();
    assertEquals(403, browser.submit(link, "form=x&key=" + ALICE, own).statusCode());
    assertEquals(303, browser.submit(link, form, own).statusCode());
  }

  @Test
  void pageMayNotBeFramedAndKeepsItsAddress() throws Exception {
    HttpResponse<String> page = new ConsentBrowser().open(URI.create(link(call(ALICE))));

    String policy = page.headers().firstValue("content-security-policy").orElseThrow();
    assertTrue(policy.contains("frame-ancestors 'none'"), policy);
    assertTrue(policy.contains("default-src 'none'"), policy);
    assertEquals("same-origin", page.headers().firstValue("referrer-policy").orElseThrow());
    assertEquals("no-store", page.headers().firstValue("cache-control").orElseThrow());
    assertTrue(page.body().contains("notes"), page.body());
    assertTrue(page.body().contains("alice"), page.body());
    assertFalse(page.body().contains("<script"), page.body());
  }

  @Test
  void noParameterLeadsTheBrowserElsewhere() throws Exception {
    String link = link(call(ALICE));
    String evil = "https%3A%2F%2Fevil.example%2F";
    for (String name : new String[] {"redirect_uri", "next", "url", "return_to", "continue"}) {
      ConsentBrowser browser = new ConsentBrowser();
      HttpResponse<String> page = browser.open(URI.create(link + "?" + name + "=" + evil));
      assertEquals(200, page.statusCode());
      assertFalse(page.body().contains("evil.example"), page.body());
    }

    HttpResponse<String> redirect =
        new ConsentBrowser()
            .agree(URI.create(link + "?redirect_uri=" + evil), Map.of("key", ALICE, "url", evil));

    String location = redirect.headers().firstValue("location").orElseThrow();
    assertTrue(location.startsWith(notes.url("/authorize?")), location);
    assertFalse(location.contains("evil"), location);
  }

  @Test
  void noParameterOfAnAnswerLeadsTheBrowserElsewhere() throws Exception {
    String evil = "https%3A%2F%2Fevil.example%2F";
    for (String name :
        new String[] {"redirect_uri", "next", "url", "return_to", "error", "error_uri", "iss"}) {
      ConsentBrowser browser = new ConsentBrowser();
      HttpResponse<String> redirect =
          browser.agree(URI.create(link(call(ALICE))), Map.of("key", ALICE));
      URI authorize = URI.create(redirect.headers().firstValue("location").orElseThrow());
      String answer = browser.open(authorize).headers().firstValue("location").orElseThrow();

      HttpResponse<String> page = browser.open(URI.create(answer + "&" + name + "=" + evil));

      String location = page.headers().firstValue("location").orElse("");
      assertFalse((location + page.body()).contains("evil.example"), name + location + page.body());
      notes.revokeAll();
    }
  }

  @Test
  void callerWithACredentialForAnApiGetsALinkForAnMcpServer() throws Exception {
    Answer refused =
        bridge.post(
            "/servers/notes/tools/me",
            "{}",
            "x-api-key",
            ALICE,
            "x-upstream-authorization",
            "Bearer for-an-api");

    assertEquals("consent_required", refused.code(), refused.toString());
    assertTrue(link(refused).contains("/connect/"), refused.toString());
  }

  @Test
  void stringsOfTheServerAreEscapedOnThePage() throws Exception {
    bridge.close();
    notes.needs("<script>alert(1)</script>");
    start();

    HttpResponse<String> page = new ConsentBrowser().open(URI.create(link(call(ALICE))));

    assertFalse(page.body().contains("<script>"), page.body());
    assertTrue(page.body().contains("&lt;script&gt;"), page.body());
  }

  @ParameterizedTest
  @ValueSource(strings = {"own", "https://evil.example", ""})
  void refusalAtTheAuthorizationServerConnectsNothingAndItsTextIsNotShown(String iss)
      throws Exception {
    notes.answer(
        "/authorize",
        exchange -> {
          String query = exchange.getRequestURI().getQuery();
          String state = query.replaceAll(".*state=([^&]+).*", "$1");
          exchange
              .getResponseHeaders()
              .set(
                  "location",
                  bridge.uri("/oauth/callback/notes")
                      + "?error=access_denied&error_description=PWNED&state="
                      + state
                      + (iss.isEmpty() ? "" : "&iss=" + (iss.equals("own") ? notes.url("") : iss)));
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });

    HttpResponse<String> page = agree(new ConsentBrowser(), link(call(ALICE)), ALICE);

    String told = iss.equals("own") ? "was not granted" : "comes from another authorization server";
    assertEquals(403, page.statusCode());
    assertTrue(page.body().contains(told), page.body());
    assertFalse(page.body().contains("PWNED"), page.body());
    assertEquals(0, notes.count("/token"));
  }

  @Test
  void modernClientIsAskedToOpenTheLinkAndItsCallRunsAfterwards() throws Exception {
    connect(BOB, "bob");
    McpClient client = client(URL_MODE);
    JsonNode asked = stateless(client, "").result();
    assertEquals("input_required", asked.path("resultType").asText(), asked.toString());
    JsonNode elicitation = asked.at("/inputRequests/consent");
    assertEquals("elicitation/create", elicitation.path("method").asText());
    assertEquals("url", elicitation.at("/params/mode").asText());
    assertTrue(elicitation.at("/params/elicitationId").isMissingNode());
    String state = asked.path("requestState").asText();
    String accepted = "\"inputResponses\":{\"consent\":{\"action\":\"accept\"}},";

    CompletableFuture<McpClient.Reply> repeated =
        CompletableFuture.supplyAsync(
            () -> unchecked(client, accepted + "\"requestState\":\"" + state + "\","));
    notes.userIs("alice");
    agree(new ConsentBrowser(), elicitation.at("/params/url").asText(), ALICE);

    assertEquals("alice", repeated.get(30, TimeUnit.SECONDS).firstText());
  }

  @Test
  void callOfAModernClientThatHasLeftDoesNotRunAfterTheConsent() throws Exception {
    connect(BOB, "bob");
    McpClient client = client(URL_MODE);
    JsonNode asked = stateless(client, "").result();
    McpClient.PendingRequest waiting =
        client.begin(
            "tools/call",
            "\"inputResponses\":{\"consent\":{\"action\":\"accept\"}},\"requestState\":"
                + asked.path("requestState")
                + ",\"name\":\"me\",\"arguments\":{}");
    call(BOB);

    waiting.cancellation().cancel();
    notes.userIs("alice");
    agree(new ConsentBrowser(), asked.at("/inputRequests/consent/params/url").asText(), ALICE);

    assertEquals("alice", call(ALICE).firstText());
    assertEquals(List.of("bob", "alice"), notes.calls());
  }

  @ParameterizedTest
  @ValueSource(strings = {"decline", "cancel"})
  void modernClientWhoseUserDoesNotAgreeGetsAToolError(String action) throws Exception {
    connect(BOB, "bob");
    McpClient client = client(URL_MODE);
    String state = stateless(client, "").result().path("requestState").asText();

    JsonNode result =
        stateless(
                client,
                "\"inputResponses\":{\"consent\":{\"action\":\""
                    + action
                    + "\"}},\"requestState\":\""
                    + state
                    + "\",")
            .result();

    assertTrue(result.path("isError").asBoolean(), result.toString());
    assertEquals(List.of(), notes.calls());
  }

  @ParameterizedTest
  @ValueSource(strings = {NO_MODE, "{\"elicitation\":{}}", "{\"elicitation\":{\"form\":{}}}"})
  void clientThatOpensNoLinksGetsAToolErrorWithTheLink(String capabilities) throws Exception {
    connect(BOB, "bob");

    JsonNode modern = stateless(client(capabilities), "").result();
    McpClient legacy = client(capabilities).initialized();
    McpClient.Reply old = legacy.call("me", "{}");

    assertTrue(modern.path("isError").asBoolean(), modern.toString());
    assertTrue(modern.at("/content/0/text").asText().contains("/connect/"), modern.toString());
    assertTrue(old.firstText().contains("/connect/"), old.toString());
  }

  @Test
  void legacyClientGetsTheErrorWithTheLinkAndIsToldWhenItsUserHasAgreed() throws Exception {
    connect(BOB, "bob");
    McpClient client = client(URL_MODE).initialized();
    BufferedReader stream = client.listen();

    McpClient.Reply refused = client.call("me", "{}");

    assertEquals(-32042, refused.errorCode(), refused.toString());
    JsonNode elicitation = refused.last().at("/error/data/elicitations/0");
    assertEquals("url", elicitation.path("mode").asText(), refused.toString());
    CompletableFuture<JsonNode> told = McpClient.nextLater(stream);
    notes.userIs("alice");
    agree(new ConsentBrowser(), elicitation.path("url").asText(), ALICE);
    JsonNode message = told.get(20, TimeUnit.SECONDS);
    assertEquals("notifications/elicitation/complete", message.path("method").asText());
    assertEquals(
        elicitation.path("elicitationId").asText(), message.at("/params/elicitationId").asText());
    assertEquals("alice", client.call("me", "{}").firstText());
  }

  @Test
  void modelIsToldToAskItsUserToOpenTheLink() throws Exception {
    connect(BOB, "bob");

    Answer answer =
        bridge.post(
            "/toolcall",
            "{\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"me\","
                + "\"arguments\":\"{}\"}}]}",
            "x-api-key",
            ALICE);

    String text = answer.at("/tool_responses/0/output/error");
    assertTrue(text.startsWith("consent_required:"), answer.toString());
    assertTrue(text.contains("/connect/"), answer.toString());
    assertEquals(
        "consent_required", answer.at("/tool_responses/0/problem/code"), answer.toString());
    assertTrue(answer.at("/messages/0/content").contains("/connect/"), answer.toString());
  }

  /** The status line of the response to a target that no HTTP client would send. */
  private String statusLine(String target) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", bridge.port())) {
      String request = "GET " + target + " HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
    }
  }

  private McpClient client(String capabilities) {
    return new McpClient(bridge.uri("/servers/notes/mcp"), capabilities, "x-api-key", ALICE);
  }

  private static McpClient.Reply stateless(McpClient client, String more) throws Exception {
    return client.stateless("tools/call", more + "\"name\":\"me\",\"arguments\":{}");
  }

  private static McpClient.Reply unchecked(McpClient client, String more) {
    try {
      return stateless(client, more);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
