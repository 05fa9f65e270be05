package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.OpenIdProvider;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TrailFiles;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users with access tokens, who log in at their issuer before they agree at the consent page. */
@Tag("access")
class UserLoginIT {
  @TempDir private static Path log;
  @TempDir private static Path trail;

  private static final Map<String, String> ENTERED = Map.of("credential", "entered");

  @AutoClose private static ProtectedServer notes;
  @AutoClose private static EchoApi api;
  @AutoClose private static OpenIdProvider provider;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    int port = FreePorts.find(1).get(0);
    provider = new OpenIdProvider(log, "http://127.0.0.1:" + port + "/oauth/callback");
    notes = new ProtectedServer();
    api =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/mine", "mine", "").asScript())
            .on("/mine", EchoApi.requiring("Bearer entered"));
    bridge =
        TestBridge.at(
            port,
            ("{'audit':{'folder':'%s'},'auth':{'issuers':[{'name':'corp','issuer':'%s'}],'login':{'issuer':'corp',"
                    + "'clientId':'pages','clientSecret':'pages-secret'}},"
                    + "'mcpServers':{'notes':%s,'held':%s,'sessions':%s,'granted':%s,"
                    + "'api':{'type':'openapi','url':'%s','authUrl':'https://login.example'}}}")
                .formatted(
                    trail,
                    provider.issuer(),
                    notes.entry(""),
                    notes.entry("").replace("'era'", "'riskLevel':2,'era'"),
                    notes.entry("").replace("'era'", "'isolation':'session','era'"),
                    notes.apiEntry(),
                    api.url("/openapi.json")));
    String token = provider.userToken("warm-up", own(), "mcp:read mcp:call");
    for (String ready : List.of("api", "granted")) {
      bridge.until(
          () ->
              bridge
                  .get("/servers/" + ready, "authorization", "Bearer " + token)
                  .at("/state")
                  .equals("ready"));
    }
  }

  @BeforeEach
  void forget() {
    notes.revokeAll();
  }

  private static String own() {
    return "http://127.0.0.1:" + bridge.port();
  }

  private static Answer call(String token) throws Exception {
    return bridge.post("/servers/notes/tools/me", "{}", "authorization", "Bearer " + token);
  }

  private static Answer call(String token, String header, String value) throws Exception {
    return bridge.post(
        "/servers/notes/tools/me", "{}", "authorization", "Bearer " + token, header, value);
  }

  private static Answer callApi(String token) throws Exception {
    return bridge.post("/servers/api/tools/mine", "{}", "authorization", "Bearer " + token);
  }

  private static ConsentBrowser browserOf(String user) {
    return new ConsentBrowser().withCookie(provider.issuer(), "user", user);
  }

  @Test
  void userLogsInAndIsSentOnToTheServer() throws Exception {
    String token = provider.userToken("alice", own(), "mcp:read mcp:call");
    Answer refused = call(token);
    assertEquals("consent_required", refused.code(), refused.toString());

    HttpResponse<String> page = browserOf("alice").connect(refused.at("/connect_url"), Map.of());

    assertTrue(page.body().contains("Connected"), page.body());
    assertEquals("alice", call(token).firstText());
    assertEquals(List.of("consent"), logIns("corp|alice"));
  }

  /** The pages at which a user has logged in, by the audit trail. */
  private static List<String> logIns(String user) throws Exception {
    return TrailFiles.of(TrailFiles.records(trail), "login").stream()
        .filter(each -> each.path("principal").asText().equals(user))
        .map(each -> each.path("page").asText())
        .toList();
  }

  @Test
  void linkThatWasPassedOnConnectsNoAccountOfAnotherUser() throws Exception {
    String token = provider.userToken("carol", own(), "mcp:read mcp:call");
    String link = call(token).at("/connect_url");
    long authorized = notes.count("/authorize");

    HttpResponse<String> page = browserOf("mallory").connect(link, Map.of());

    assertEquals(403, page.statusCode(), page.body());
    assertTrue(page.body().contains("logged in as corp|mallory"), page.body());
    assertEquals(authorized, notes.count("/authorize"));
    assertEquals("consent_required", call(token).code());
    assertEquals(List.of("consent"), logIns("corp|mallory"));
    assertEquals(List.of(), logIns("corp|carol"));
  }

  /** Confused deputy: what one client may do in the user's name, another may not yet. */
  @Test
  void otherClientOfTheSameUserIsAskedForOnAPageOfItsOwn() throws Exception {
    // Given
    String token = provider.userToken("app", "heidi", own(), "mcp:read mcp:call");
    String others = provider.userToken("other", "heidi", own(), "mcp:read mcp:call");
    connect("heidi", call(token));
    assertEquals("alice", call(token).firstText());
    int calls = notes.calls().size();

    // When
    Answer refused = call(others, "x-upstream-authorization", "Bearer stolen");

    // Then
    assertEquals("consent_required", refused.code(), refused.toString());
    assertEquals("no", refused.at("/executed"));
    assertEquals("notes", refused.at("/scope"));
    assertTrue(refused.at("/detail").contains("client 'other'"), refused.toString());
    HttpResponse<String> page = browserOf("heidi").open(URI.create(refused.at("/connect_url")));
    assertEquals(200, page.statusCode());
    assertTrue(page.body().contains("<dt>Used by</dt><dd>other</dd>"), page.body());
    assertEquals("consent_required", call(others).code());
    assertEquals(calls, notes.calls().size());

    // When the user agrees to that one too
    connect("heidi", refused);

    // Then
    assertEquals("alice", call(others).firstText());
    assertEquals("alice", call(token).firstText());
  }

  private static void connect(String user, Answer refused) throws Exception {
    HttpResponse<String> page = browserOf(user).connect(refused.at("/connect_url"), Map.of());
    assertTrue(page.body().contains("Connected"), page.body());
  }

  @Test
  void approvedCallOfAClientThatTheUserHasNotAgreedToDoesNotRun() throws Exception {
    // Given a server whose tools are known
    String first = provider.userToken("ken", own(), "mcp:read mcp:call");
    connect("ken", hold(first));
    bridge.until(() -> hold(first).body().has("confirmation_id"));
    // and calls of two clients that wait, of which the user agrees to one
    String token = provider.userToken("app", "judy", own(), "mcp:read mcp:call");
    String others = provider.userToken("other", "judy", own(), "mcp:read mcp:call");
    Answer waiting = hold(others);
    connect("judy", confirm(hold(token), token));
    assertEquals("alice", confirm(hold(token), token).firstText());
    int calls = notes.calls().size();

    // When
    Answer refused = confirm(waiting, others);

    // Then
    assertEquals("consent_required", refused.code(), refused.toString());
    assertEquals("no", refused.at("/executed"));
    assertEquals(calls, notes.calls().size());
  }

  private static Answer hold(String token) throws Exception {
    return bridge.post("/servers/held/tools/me", "{}", "authorization", "Bearer " + token);
  }

  private static Answer confirm(Answer held, String token) throws Exception {
    assertTrue(held.body().has("confirmation_id"), held.toString());
    return bridge.confirm(held, "authorization", "Bearer " + token);
  }

  @Test
  void otherClientOfTheSameUserSubscribesToNothing() throws Exception {
    String token = provider.userToken("app", "lena", own(), "mcp:read mcp:call");
    String others = provider.userToken("other", "lena", own(), "mcp:read mcp:call");
    connect("lena", call(token));
    call(others); // opens a connection, or does not

    subscribe(others);
    assertEquals(0, notes.subscriptions());
    subscribe(token);

    bridge.until(() -> notes.subscriptions() > 0);
    assertEquals(1, notes.subscriptions());
  }

  @Test
  void sessionOfOneClientIsUsedByNoOther() throws Exception {
    String token = provider.userToken("app", "nina", own(), "mcp:read mcp:call");
    String others = provider.userToken("other", "nina", own(), "mcp:read mcp:call");
    connect(
        "nina",
        bridge.post("/servers/sessions/tools/me", "{}", "authorization", "Bearer " + token));
    McpClient session =
        new McpClient(bridge.uri("/servers/sessions/mcp"), "{}", "authorization", "Bearer " + token)
            .initialized();
    assertEquals("alice", session.call("me", "{}").firstText());
    int calls = notes.calls().size();

    session.with("authorization", "Bearer " + others);
    McpClient.Reply refused = session.call("me", "{}");

    assertTrue(refused.text().contains("another client of its user"), refused.text());
    assertEquals(calls, notes.calls().size());
    session.with("authorization", "Bearer " + token);
    assertEquals("alice", session.call("me", "{}").firstText());
  }

  private static void subscribe(String token) throws Exception {
    McpClient client =
        new McpClient(bridge.uri("/servers/notes/mcp"), "{}", "authorization", "Bearer " + token);
    client.initialize();
    client.request("resources/subscribe", "{\"uri\":\"note:///alice\"}");
  }

  /** Calls of an HTTP API share a connection, but not their users' grants. */
  @Test
  void otherClientOfTheSameUserDoesNotUseTheGrantForAnApi() throws Exception {
    String token = provider.userToken("app", "mike", own(), "mcp:read mcp:call");
    String others = provider.userToken("other", "mike", own(), "mcp:read mcp:call");
    connect("mike", callGranted(token));
    assertEquals("alice", callGranted(token).at("/structuredContent/user"));

    Answer refused = callGranted(others);

    assertEquals("consent_required", refused.code(), refused.toString());
    assertEquals("no", refused.at("/executed"));
    connect("mike", refused);
    assertEquals("alice", callGranted(others).at("/structuredContent/user"));
  }

  private static Answer callGranted(String token) throws Exception {
    return bridge.post("/servers/granted/tools/me", "{}", "authorization", "Bearer " + token);
  }

  @Test
  void clientsAreForgottenWithTheGrant() throws Exception {
    String token = provider.userToken("app", "ivan", own(), "mcp:read mcp:call");
    String others = provider.userToken("other", "ivan", own(), "mcp:read mcp:call");
    connect("ivan", call(token));
    assertEquals(
        204,
        bridge.delete("/servers/notes/credentials", "authorization", "Bearer " + others).status());

    connect("ivan", call(others));

    assertEquals("alice", call(others).firstText());
    assertEquals("consent_required", call(token).code());
  }

  @Test
  void loginIsValidOnceAndOnlyInItsBrowser() throws Exception {
    String token = provider.userToken("dave", own(), "mcp:read mcp:call");
    ConsentBrowser browser = browserOf("dave");
    HttpResponse<String> toIssuer =
        browser.agree(URI.create(call(token).at("/connect_url")), Map.of());
    URI answer =
        browser.followTo(
            URI.create(toIssuer.headers().firstValue("location").orElseThrow()),
            own() + "/oauth/callback");

    assertEquals(400, new ConsentBrowser().open(answer).statusCode());
    assertEquals(303, browser.open(answer).statusCode());
    assertEquals(400, browser.open(answer).statusCode());
  }

  @Test
  void codeThatTheIssuerRefusesIsRecordedAndLogsNoUserIn() throws Exception {
    String token = provider.userToken("grace", own(), "mcp:read mcp:call");
    ConsentBrowser browser = browserOf("grace");
    HttpResponse<String> toIssuer =
        browser.agree(URI.create(call(token).at("/connect_url")), Map.of());
    URI answer =
        browser.followTo(
            URI.create(toIssuer.headers().firstValue("location").orElseThrow()),
            own() + "/oauth/callback");

    URI forged = URI.create(answer.toString().replaceAll("code=[^&]+", "code=forged"));
    assertEquals(403, browser.open(forged).statusCode());

    bridge.until(() -> trail().contains("\"refused\":1"));
    assertEquals(List.of(), logIns("corp|grace"));
    assertEquals("consent_required", call(token).code());
  }

  private static String trail() throws Exception {
    return TrailFiles.of(TrailFiles.records(trail), "credential").toString();
  }

  @Test
  void credentialThatWasEnteredIsKeptForTheUserWhoLogsIn() throws Exception {
    String token = provider.userToken("erin", own(), "mcp:read mcp:call");
    String other = provider.userToken("frank", own(), "mcp:read mcp:call");

    HttpResponse<String> stranger =
        browserOf("frank").connect(callApi(token).at("/connect_url"), ENTERED);
    assertEquals(403, stranger.statusCode(), stranger.body());
    HttpResponse<String> page =
        browserOf("erin").connect(callApi(token).at("/connect_url"), ENTERED);

    assertTrue(page.body().contains("Connected"), page.body());
    assertEquals("granted", callApi(token).firstText());
    assertEquals("consent_required", callApi(other).code());
  }

  @Test
  void answerWithoutLoginIsRefused() throws Exception {
    HttpResponse<String> page =
        new ConsentBrowser().open(URI.create(own() + "/oauth/callback?code=x&state=y"));

    assertEquals(400, page.statusCode(), page.body());
  }
}
