package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.HeldAnswer;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Access tokens of callers that are exchanged for tokens of a server (RFC 8693). */
@Tag("access")
class TokenExchangeIT {
  private static final RSAKey KEY = TokenForge.rsa("r1");
  private static final String API_KEY = ApiKeys.generate();

  @AutoClose private final ProtectedServer notes = new ProtectedServer();
  @AutoClose private final IssuerStub issuer = IssuerStub.at("", KEY.toPublicJWK());
  @AutoClose private TestBridge bridge;

  TokenExchangeIT() throws Exception {}

  @BeforeEach
  void start() throws Exception {
    bridge = TestBridge.of(config(""));
    bridge.until(
        () -> bridge.get("/servers/notes", "x-api-key", API_KEY).at("/state").equals("ready"));
  }

  private String config(String further) {
    String oauth =
        ",'as':'exchange','clientId':'bridge','clientSecret':'secret','audience':'notes',"
            + "'scopes':['notes'],'issuers':['"
            + notes.url("")
            + "']";
    return ("{%s'auth':{'keys':[%s],'issuers':[{'name':'corp','issuer':'%s','audiences':['all']}]},"
            + "'mcpServers':{'notes':%s}}")
        .formatted(
            further,
            TestBridge.key("key", API_KEY, "'read','call'"),
            issuer.url(),
            notes.entry(oauth));
  }

  private String token(String subject) {
    return TokenForge.token(KEY, issuer.url(), subject);
  }

  private Answer call(String token) throws Exception {
    return call(token, "{}");
  }

  private Answer call(String token, String arguments) throws Exception {
    return bridge.post("/servers/notes/tools/me", arguments, "authorization", "Bearer " + token);
  }

  private long exchanges() {
    return notes.tokenRequests().stream().filter(body -> body.contains("token-exchange")).count();
  }

  @Test
  void everyCallerGetsATokenOfItsOwn() throws Exception {
    String alice = token("alice");
    String bob = token("bob");

    assertEquals("alice", call(alice).firstText());
    assertEquals("bob", call(bob).firstText());
    assertEquals("alice", call(alice).firstText());

    assertEquals(2, exchanges());
    String request =
        notes.tokenRequests().stream().filter(body -> body.contains("exchange")).findFirst().get();
    assertTrue(request.contains("audience=notes"), request);
    assertTrue(request.contains("scope=notes"), request);
    assertTrue(request.contains("access_token"), request);
  }

  @Test
  void callsAtOnceShareOneExchange() throws Exception {
    String alice = token("alice");
    List<CompletableFuture<Answer>> calls = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      calls.add(
          bridge.postLater("/servers/notes/tools/me", "{}", "authorization", "Bearer " + alice));
    }
    for (CompletableFuture<Answer> each : calls) {
      assertEquals("alice", each.get(20, TimeUnit.SECONDS).firstText());
    }

    assertEquals(1, exchanges());
  }

  @Test
  void tokenThatTheServerRefusesIsExchangedAnew() throws Exception {
    String alice = token("alice");
    assertEquals("alice", call(alice).firstText());
    notes.revokeAccess();

    Answer refused = call(alice);

    assertEquals("forbidden", refused.code(), refused.toString());
    assertEquals("no", refused.at("/executed"));
    assertEquals("alice", call(alice).firstText());
  }

  @Test
  void callerWithoutATokenIsRefused() throws Exception {
    Answer refused = bridge.post("/servers/notes/tools/me", "{}", "x-api-key", API_KEY);

    assertEquals("forbidden", refused.code(), refused.toString());
    assertTrue(refused.at("/detail").contains("needs an access token"), refused.toString());
    assertEquals(0, exchanges());
  }

  @Test
  void refusalOfTheIssuerIsForbiddenAndItsAbsenceIsNot() throws Exception {
    Answer refused = call(token("mallory"));
    assertEquals("forbidden", refused.code(), refused.toString());
    assertTrue(refused.at("/detail").contains("invalid_target"), refused.toString());
    notes.answer("/token", exchange -> IssuerStub.json(exchange, 500, "no json"));

    Answer down = call(token("alice"));

    assertEquals("issuer_unavailable", down.code(), down.toString());
    notes.heal();
    assertEquals("alice", call(token("alice")).firstText());
  }

  @Test
  void tokenOfACallThatIsNotAllowedIsNotExchanged() throws Exception {
    bridge.reload(
        config(
            "'access':{'rules':[{'name':'not-me','deny':['call'],'tools':['me'],"
                + "'arguments':{'/x':{'equals':1}}},"
                + "{'name':'all','allow':['call']}]},"));

    Answer refused = call(token("alice"), "{\"x\":1}");

    assertEquals("forbidden", refused.code(), refused.toString());
    assertEquals(0, exchanges());
    assertEquals("alice", call(token("alice"), "{\"x\":2}").firstText());
  }

  @Test
  void exchangeThatNeverEndsCountsAgainstTheTimeoutOfTheCall() throws Exception {
    HeldAnswer never = new HeldAnswer();
    bridge.reload(config("").replace("'heartbeat':0", "'heartbeat':0,'timeout':0.5"));
    bridge.until(
        () -> bridge.get("/servers/notes", "x-api-key", API_KEY).at("/state").equals("ready"));
    notes.answer("/token", never);

    Answer late = call(token("alice"));
    never.release();

    assertEquals("deadline_exceeded", late.code(), late.toString());
    assertEquals("no", late.at("/executed"));
  }

  @Test
  void credentialForAnApiDoesNotReachAnMcpServer() throws Exception {
    Answer answer =
        bridge.post(
            "/servers/notes/tools/me",
            "{}",
            "authorization",
            "Bearer " + token("alice"),
            "x-upstream-authorization",
            "Bearer own");

    assertEquals("alice", answer.firstText(), answer.toString());
    assertFalse(notes.authorizations().contains("Bearer own"));
  }

  @Test
  void sessionUsesTheTokenOfEachRequest() throws Exception {
    McpClient client =
        new McpClient(
            bridge.uri("/servers/notes/mcp"), "{}", "authorization", "Bearer " + token("alice"));
    client.initialize();

    assertEquals("alice", client.call("me", "{}").firstText());
  }

  @Test
  void exchangedTokenIsNotForAnotherTarget() throws Exception {
    String alice = token("alice");
    assertEquals("alice", call(alice).firstText());
    assertEquals(1, exchanges());

    bridge.reload(config("").replace("'audience':'notes'", "'audience':'other'"));
    bridge.until(
        () -> bridge.get("/servers/notes", "x-api-key", API_KEY).at("/state").equals("ready"));

    assertEquals("alice", call(alice).firstText());
    assertEquals(2, exchanges());
  }

  @Test
  void tokenThatAnApiRefusesIsExchangedAnew() throws Exception {
    String document =
        "{'openapi':'3.1.0','info':{'title':'t','version':'1'},'servers':[{'url':'%s'}],"
            + "'paths':{'/api/me':{'get':{'operationId':'me','responses':{'200':"
            + "{'description':'d','content':{'application/json':{'schema':"
            + "{'type':'object'}}}}}}}}}";
    bridge.reload(
        config("")
            .replace(
                "'url':'" + notes.url("/mcp") + "','heartbeat':0,'era':'legacy'",
                "'type':'openapi','heartbeat':0,'server':'%s','document':".formatted(notes.url(""))
                    + document.formatted(notes.url(""))));
    bridge.until(
        () -> bridge.get("/servers/notes", "x-api-key", API_KEY).at("/state").equals("ready"));
    String alice = token("alice");
    assertEquals("alice", call(alice).at("/structuredContent/user"));
    notes.revokeAccess();

    assertEquals("forbidden", call(alice).code());

    assertEquals("alice", call(alice).at("/structuredContent/user"));
    assertEquals(2, exchanges());
  }

  @Test
  void callersTokenReachesTheTokenEndpointOnly() throws Exception {
    String alice = token("alice");
    try (CapturedLog log = new CapturedLog()) {
      call(alice);
      notes.revokeAccess();
      Answer refused = call(alice);

      assertFalse(refused.text().contains(alice));
      assertFalse(log.lines().toString().contains(alice));
      assertFalse(notes.authorizations().toString().contains(alice));
      assertTrue(notes.authorizations().size() > 2);
    }
  }
}
