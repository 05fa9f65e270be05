package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.GrpcServer;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import dev.mcpbridge.fixture.TrailFiles;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers with access tokens, from an issuer that can fail and lie. */
@Tag("access")
class TokensIT {
  /** The first scope that the description of an operation names. */
  private static final Pattern SCOPE = Pattern.compile("[Ss]copes? `(\\w+)`");

  private static final RSAKey RSA = TokenForge.rsa("r1");
  private static final ECKey EC = TokenForge.ec("e1");
  private static final String EDGE = ApiKeys.generate();
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();
  private static final String PUBLIC = "https://tools.example.org";

  @AutoClose private IssuerStub issuer;
  @AutoClose private IssuerStub opaque;
  @AutoClose private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    issuer = IssuerStub.at("/realms/corp", RSA, EC);
    opaque = IssuerStub.at("");
    bridge = TestBridge.of(config(""));
    for (String server : List.of("s", "t")) {
      bridge.until(() -> as(EDGE, "/servers/" + server).at("/state").equals("ready"));
    }
  }

  private String config(String more) {
    return ("{'auth':{'publicUrl':'%s','keys':[%s],'issuers':["
            + "{'name':'corp','issuer':'%s','roles':['groups']%s},"
            + "{'name':'other','issuer':'%s','introspection':"
            + "{'clientId':'bridge','clientSecret':'s3cret'},'audiences':['api']}]},"
            + "'profiles':{'p':{'servers':{'s':{}}}},'mcpServers':{'s':%s,'t':%s}}")
        .formatted(
            PUBLIC,
            TestBridge.key("corp-alice", EDGE, "'read','call'"),
            issuer.url(),
            more,
            opaque.url(),
            TestBridge.entry("'risk':{'tools':{'big':2}}"),
            TestBridge.entry(""));
  }

  private JWTClaimsSet.Builder claims(String audience, String scope) {
    return TokenForge.claims(issuer.url(), audience, scope);
  }

  private String token(String audience, String scope) {
    return TokenForge.sign(RSA, claims(audience, scope).build());
  }

  private String token(String scope) {
    return token(PUBLIC, scope);
  }

  private Answer as(String token, String path) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + token);
  }

  private Answer echo(String token) throws Exception {
    return bridge.post(
        "/servers/s/tools/echo", "{\"text\":\"x\"}", "authorization", "Bearer " + token);
  }

  private McpClient client(String path, String token) {
    return new McpClient(bridge.uri(path), "{}", "authorization", "Bearer " + token);
  }

  private static void assertChallenge(String expected, Answer answer) {
    assertEquals(expected, answer.header("www-authenticate"), answer.toString());
  }

  @Test
  void tokenOfTheIssuerIdentifiesItsSubject() throws Exception {
    String token =
        TokenForge.sign(
            EC, claims(PUBLIC, "mcp:call").claim("groups", List.of("dev", "ops")).build());

    Answer me = as(token, "/whoami");

    assertEquals("corp|alice", me.at("/principal"), me.toString());
    assertEquals("client", me.at("/client"));
    assertEquals("[\"read\",\"call\"]", me.body().path("scopes").toString());
    assertEquals("[\"dev\",\"ops\"]", me.body().path("roles").toString());
    assertEquals(200, echo(token).status());
    assertEquals("corp-alice", as(EDGE, "/whoami").at("/principal"));
  }

  private void reloadWithRules(String rules) throws Exception {
    bridge.reload(
        config("").replace("'mcpServers'", "'access':{'rules':[" + rules + "]},'mcpServers'"));
  }

  @Test
  void ruleThatNeedsAFurtherScopeIsChallengedWithAllThatTheCallNeeds() throws Exception {
    reloadWithRules("{'name':'writers','allow':['call'],'tools':['echo'],'needs':['git:write']}");
    String challenge =
        "Bearer error=\"insufficient_scope\", resource_metadata=\"%s/.well-known/"
            + "oauth-protected-resource%s\", scope=\"git:write mcp:call\"";

    Answer refused = echo(token("mcp:call"));
    Answer listed = as(token("mcp:call"), "/servers/s/tools");
    Answer mcp =
        bridge.post(
            "/servers/s/mcp",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                + "\"name\":\"echo\",\"arguments\":{},\"_meta\":{"
                + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
            McpClient.with(
                McpClient.headers("tools/call", "echo"),
                "authorization",
                "Bearer " + token("mcp:call")));

    assertEquals("insufficient_scope", refused.code());
    assertChallenge(challenge.formatted(PUBLIC, ""), refused);
    assertEquals("[\"echo\"]", names(listed));
    assertEquals(403, mcp.status(), mcp.toString());
    assertChallenge(challenge.formatted(PUBLIC, "/servers/s/mcp"), mcp);
    assertEquals(200, echo(token("mcp:call git:write")).status());
    Answer withKey = bridge.call("echo", "{}", "authorization", "Bearer " + EDGE);
    assertEquals(404, withKey.status(), withKey.toString());
  }

  /** It is listed, since a token with more scopes may call it. */
  @Test
  void concealingAllHidesNoToolThatNeedsAFurtherScope() throws Exception {
    String access =
        "'access':{'conceal':'all','rules':[{'name':'w','allow':['call'],'tools':['echo'],"
            + "'needs':['git:write']}]},";
    bridge.reload(config("").replace("'mcpServers'", access + "'mcpServers'"));

    assertEquals("[\"echo\"]", names(as(token("mcp:call"), "/servers/s/tools")));
    assertEquals("insufficient_scope", echo(token("mcp:call")).code());
    assertEquals(200, echo(token("mcp:call git:write")).status());
    assertEquals(404, bridge.call("echo", "{}", "authorization", "Bearer " + EDGE).status());
    assertEquals(404, big(token("mcp:call git:write")).status());
  }

  private static String names(Answer tools) {
    return tools
        .body()
        .path("tools")
        .valueStream()
        .map(tool -> "\"" + tool.path("name").asText() + "\"")
        .collect(Collectors.joining(",", "[", "]"));
  }

  @Test
  void approvedCallThatNowNeedsAFurtherScopeIsNotRun() throws Exception {
    String token = token("mcp:call");
    reloadWithRules("{'name':'all','allow':['call']}");
    Answer control = big(token);
    Answer held = big(token);
    assertEquals(200, confirm(token, control).status());

    reloadWithRules("{'name':'writers','allow':['call'],'needs':['git:write']}");
    Answer refused = confirm(token, held);

    assertEquals(403, refused.status(), refused.toString());
    assertEquals("insufficient_scope", refused.code());
    assertEquals("no", refused.at("/executed"));
  }

  private Answer big(String token) throws Exception {
    return bridge.call("big", "{\"ms\":0,\"size\":1}", "authorization", "Bearer " + token);
  }

  private Answer confirm(String token, Answer held) throws Exception {
    return bridge.confirm(held, "authorization", "Bearer " + token);
  }

  @Test
  void missingCredentialIsChallengedWithTheResourceOfTheDoor() throws Exception {
    String metadata = PUBLIC + "/.well-known/oauth-protected-resource";
    for (String door :
        List.of(
            "",
            "/mcp",
            "/sse",
            "/servers/s/mcp",
            "/servers/s/sse",
            "/servers/unknown/mcp",
            "/profiles/unknown/mcp",
            "/profiles/unknown/sse")) {
      Answer answer =
          door.endsWith("/mcp")
              ? bridge.post(door, "{}")
              : bridge.get(door.isEmpty() ? "/servers" : door);
      assertEquals(401, answer.status());
      assertChallenge(
          "Bearer resource_metadata=\"" + metadata + door + "\", scope=\"mcp:read mcp:call\"",
          answer);

      String path = URI.create(metadata + door).getPath();
      Answer document = bridge.get(path, "origin", "https://anything.example");
      assertEquals(PUBLIC + door, document.at("/resource"), document.toString());
      assertEquals(issuer.url(), document.at("/authorization_servers/0"));
      assertEquals(
          "[\"mcp:read\",\"mcp:call\"]", document.body().path("scopes_supported").toString());
      assertEquals("[\"header\"]", document.body().path("bearer_methods_supported").toString());
      assertEquals("*", document.header("access-control-allow-origin"));
      assertEquals("max-age=3600", document.header("cache-control"));
    }
    assertEquals(
        PUBLIC + "/mcp?discovery=search",
        bridge.get("/.well-known/oauth-protected-resource/mcp?discovery=search").at("/resource"));
    for (String none : List.of("/servers", "/servers/s", "/servers/../mcp", "/x/mcp", "x")) {
      assertFalse(bridge.get("/.well-known/oauth-protected-resource" + none).status() == 200, none);
    }
  }

  @Test
  void metadataAndChallengeDoNotDependOnTheRequest() throws Exception {
    Answer document =
        bridge.get(
            "/.well-known/oauth-protected-resource/mcp",
            "x-forwarded-host",
            "evil.example",
            "x-forwarded-proto",
            "http",
            "forwarded",
            "host=evil.example");
    assertEquals(PUBLIC + "/mcp", document.at("/resource"));
  }

  @Test
  void pageOfAnotherOriginMayAskForMetadata() throws Exception {
    var preflight =
        bridge
            .posting("/.well-known/oauth-protected-resource/mcp", "")
            .method("OPTIONS", java.net.http.HttpRequest.BodyPublishers.noBody())
            .header("origin", "https://anything.example")
            .header("access-control-request-headers", "mcp-protocol-version");
    var answer =
        bridge
            .client()
            .send(preflight.build(), java.net.http.HttpResponse.BodyHandlers.discarding());
    assertEquals(204, answer.statusCode());
    assertEquals("*", answer.headers().firstValue("access-control-allow-origin").orElseThrow());
  }

  @Test
  void scopeAuditIsGrantedByNoOtherAndGrantsNoOther() throws Exception {
    Answer refused = as(token("mcp:admin"), "/audit");

    assertEquals(403, refused.status());
    assertTrue(refused.header("www-authenticate").contains("scope=\"mcp:audit\""));
    assertEquals("not_found", as(token("mcp:audit"), "/audit").code());
    assertEquals(403, as(token("mcp:audit"), "/servers").status());
  }

  @Test
  void everyRouteAsksWhoCalls() throws Exception {
    String valid = token("mcp:admin");
    String expired =
        TokenForge.sign(
            RSA,
            claims(PUBLIC, "mcp:admin")
                .expirationTime(Date.from(Instant.now().minusSeconds(60)))
                .build());
    JsonNode paths = as(valid, "/openapi.json").body().path("paths");
    assertTrue(paths.size() > 20);
    for (var path : paths.properties()) {
      if (path.getKey().startsWith("/connect/")
          || path.getKey().startsWith("/oauth/")
          || path.getKey().equals("/console/login")) {
        continue;
      }
      String concrete = path.getKey().replaceAll("\\{\\w+}", "x");
      for (String wrong : new String[] {null, expired, valid + "x", "a.b.c", "opaque"}) {
        String[] headers =
            wrong == null ? new String[0] : new String[] {"authorization", "Bearer " + wrong};
        for (Answer answer :
            List.of(
                bridge.get(concrete, headers),
                bridge.post(concrete, "{}", headers),
                bridge.delete(concrete, headers))) {
          assertEquals(401, answer.status(), concrete);
          String challenge = answer.header("www-authenticate");
          assertEquals(
              wrong != null, challenge.contains("error=\"invalid_token\""), concrete + challenge);
          assertTrue(challenge.contains("resource_metadata=\"" + PUBLIC + "/.well-known/"));
        }
      }
    }
    assertTrue(as(expired, "/servers").header("www-authenticate").contains("\"expired\""));
    assertEquals(401, bridge.get("/servers?access_token=" + valid).status());
  }

  @Test
  void readOnlyTokenIsRefusedByEveryOperationThatIsDocumentedToNeedMore() throws Exception {
    String readOnly = token("mcp:read");
    String whole = token("mcp:admin");
    int refused = 0;
    for (var path : as(whole, "/openapi.json").body().path("paths").properties()) {
      for (var operation : path.getValue().properties()) {
        Matcher scope = SCOPE.matcher(operation.getValue().path("description").asText());
        if (!scope.find() || scope.group(1).equals("read")) {
          continue;
        }
        String method = operation.getKey().toUpperCase(Locale.ROOT);
        String concrete = path.getKey().replaceAll("\\{\\w+}", "x");

        Answer answer = bridge.send(method, concrete, "authorization", "Bearer " + readOnly);

        String what = method + " " + concrete + " " + answer;
        assertEquals(403, answer.status(), what);
        String challenge = answer.header("www-authenticate");
        assertTrue(challenge.contains("error=\"insufficient_scope\""), what + challenge);
        assertTrue(challenge.contains("scope=\"mcp:" + scope.group(1) + "\""), what + challenge);
        String enough = token("mcp:" + scope.group(1));
        Answer more = bridge.send(method, concrete, "authorization", "Bearer " + enough);
        assertNotEquals(403, more.status(), method + " " + concrete + " " + more);
        refused++;
      }
    }
    assertTrue(refused > 20, "refused: " + refused);
  }

  @ParameterizedTest
  @CsvSource({
    "'', /servers, 200",
    "'', /servers/s/mcp, 200",
    "/, /servers, 200",
    "/mcp, /mcp, 200",
    "/mcp, /servers, 401",
    "/mcp, /servers/s/mcp, 401",
    "/servers/s/mcp, /servers/s/mcp, 200",
    "/servers/s/mcp/, /servers/s/mcp, 200",
    "/servers/s/mcp, /servers/t/mcp, 401",
    "/servers/s/mcp, /mcp, 401",
    "/servers/s/mcp, /servers/s/tools, 401",
    "/servers/s/mcp, /profiles/p/mcp, 401",
    "/profiles/p/mcp, /profiles/p/mcp, 200",
    "/profiles/p/mcp, /mcp, 401",
    ".evil.example, /servers, 401"
  })
  void tokenIsValidForItsAudience(String audience, String door, int status) throws Exception {
    String token = token(PUBLIC + audience, "mcp:call");

    int answered =
        door.endsWith("/mcp")
            ? client(door, token).stateless("tools/list", "").status()
            : as(token, door).status();

    assertEquals(status, answered);
  }

  @Test
  void tokenWithoutOrForAnotherAudienceIsRefused() throws Exception {
    for (String wrong :
        List.of(
            TokenForge.with(RSA, claims(PUBLIC, "mcp:call"), c -> c.audience((String) null)),
            token("client", "mcp:call"),
            token(issuer.url(), "mcp:call"))) {
      Answer answer = as(wrong, "/servers");
      assertEquals(401, answer.status());
      assertTrue(answer.header("www-authenticate").contains("\"wrong audience\""));
    }
    String several =
        TokenForge.with(
            RSA, claims(PUBLIC, "mcp:call"), c -> c.audience(List.of("x", PUBLIC, "y")));
    assertEquals(200, as(several, "/servers").status());
  }

  @Test
  void missingScopeIsChallengedWithWhatTheOperationNeeds() throws Exception {
    String reader = token("mcp:read");

    Answer rest = echo(reader);
    assertEquals(403, rest.status());
    assertEquals("insufficient_scope", rest.code());
    assertEquals("no", rest.at("/executed"));
    assertChallenge(
        "Bearer error=\"insufficient_scope\", resource_metadata=\""
            + PUBLIC
            + "/.well-known/oauth-protected-resource\", scope=\"mcp:call\"",
        rest);
    assertEquals(200, as(reader, "/servers").status());
    assertEquals(200, echo(token("mcp:call")).status());

    McpClient modern = client("/servers/s/mcp", reader);
    McpClient.Reply refused =
        modern.stateless("tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}");
    assertEquals(403, refused.status());
    assertEquals(403, refused.errorCode());
    modern.with("authorization", "Bearer " + token("mcp:call"));
    assertEquals(
        200,
        modern
            .stateless("tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}")
            .status());
  }

  @Test
  void sessionGoesOnWithANewTokenOfTheSameSubject() throws Exception {
    McpClient session = client("/servers/s/mcp", token("mcp:read")).initialized();
    assertEquals(403, session.call("echo", "{\"text\":\"x\"}").status());

    session.with("authorization", "Bearer " + token("mcp:call"));
    assertEquals(200, session.call("echo", "{\"text\":\"x\"}").status());

    String bob = TokenForge.with(RSA, claims(PUBLIC, "mcp:call"), c -> c.subject("bob"));
    session.with("authorization", "Bearer " + bob);
    assertEquals(404, session.call("echo", "{\"text\":\"x\"}").status());
  }

  /** A server of its own is for a user, and not for each token of the user. */
  @Test
  void manyTokensOfASubjectHaveOneServerOfTheirOwn() throws Exception {
    String config =
        "{'auth':{'issuers':[{'name':'corp','issuer':'%s','audiences':['%s']}]},'mcpServers':{'s':%s}}"
            .formatted(
                issuer.url(), PUBLIC, TestBridge.entry("'isolation':'caller','maxSessions':2"));
    try (TestBridge isolating = TestBridge.of(config)) {
      Answer last = null;
      for (int i = 0; i < 100; i++) {
        last =
            isolating.post(
                "/servers/s/tools/remember",
                "{\"text\":\"" + i + "\"}",
                "authorization",
                "Bearer " + token("mcp:call"));
        assertEquals(200, last.status(), last.toString());
      }

      assertTrue(last.firstText().startsWith("0 1 2 "), last.firstText());
      assertTrue(last.firstText().endsWith(" 98 99"), last.firstText());
      Answer server = isolating.get("/servers/s", "authorization", "Bearer " + token("mcp:read"));
      assertEquals("1", server.at("/sessions"), server.toString());
    }
  }

  @Test
  void unknownToolIsNoMatterOfScopes() throws Exception {
    String caller = token("mcp:call");
    Answer rest =
        bridge.post("/servers/s/tools/invented", "{}", "authorization", "Bearer " + caller);
    assertEquals(404, rest.status());
    assertNull(rest.header("www-authenticate"));
    McpClient.Reply modern =
        client("/servers/s/mcp", caller).stateless("tools/call", "\"name\":\"invented\"");
    assertEquals(-32602, modern.errorCode());
  }

  @Test
  void equalSubjectsOfTwoIssuersAndAKeyAreDifferentCallers() throws Exception {
    opaque.knows("opaque-alice", "{'active':true,'sub':'alice','aud':'api','scope':'mcp:call'}");
    String alice = token("mcp:call");
    assertEquals("other|alice", as("opaque-alice", "/whoami").at("/principal"));

    String[] body = {"/servers/s/tools/big", "{\"characters\":1}"};
    String pending =
        bridge.post(body[0], body[1], "authorization", "Bearer " + alice).at("/confirmation_id");

    assertEquals(200, as(alice, "/confirmations/" + pending).status());
    for (String other : List.of("opaque-alice", EDGE)) {
      assertEquals(404, as(other, "/confirmations/" + pending).status());
    }
    McpClient session = client("/servers/s/mcp", alice).initialized();
    session.with("authorization", "Bearer opaque-alice");
    assertEquals(404, session.call("echo", "{\"text\":\"x\"}").status());
    String background =
        bridge
            .post(
                "/servers/s/tools/never",
                "{}",
                "authorization",
                "Bearer " + alice,
                "prefer",
                "respond-async")
            .header("location");
    assertEquals("running", as(alice, background).at("/status"));
    for (String other : List.of("opaque-alice", EDGE)) {
      assertEquals(404, as(other, background).status());
      assertEquals(404, bridge.delete(background, "authorization", "Bearer " + other).status());
    }
    for (String caller : List.of(alice, "opaque-alice", EDGE)) {
      String text = "{\"text\":\"of " + caller.hashCode() + "\"}";
      Answer keyed =
          bridge.post(
              "/servers/s/tools/echo",
              text,
              "authorization",
              "Bearer " + caller,
              "idempotency-key",
              "the-same");
      assertEquals(200, keyed.status(), keyed.toString());
      assertTrue(keyed.text().contains("of " + caller.hashCode()), keyed.text());
    }
  }

  @Test
  void requestStateIsOfNoUseToAnotherCallerWithTheSameSubject() throws Exception {
    opaque.knows("opaque-alice", "{'active':true,'sub':'alice','aud':'api','scope':'mcp:call'}");
    String members = "\"name\":\"big\",\"arguments\":{\"size\":1}";
    String alice = token("mcp:call");
    JsonNode asked = stateless(alice).stateless("tools/call", members).result();
    String agreed =
        members
            + ",\"requestState\":"
            + asked.path("requestState")
            + ",\"inputResponses\":{\"confirmation\":{\"action\":\"accept\","
            + "\"content\":{\"confirm\":true}}}";

    for (String other : List.of("opaque-alice", EDGE)) {
      assertEquals(-32602, stateless(other).stateless("tools/call", agreed).errorCode());
    }

    McpClient.Reply done = stateless(alice).stateless("tools/call", agreed);
    assertEquals("x", done.firstText(), done.text());
  }

  private McpClient stateless(String credential) {
    return new McpClient(
        bridge.uri("/servers/s/mcp"),
        "{\"elicitation\":{}}",
        "authorization",
        "Bearer " + credential);
  }

  @Test
  void everyStreamEndsWithItsToken() throws Exception {
    // Given
    String shortLived =
        TokenForge.sign(
            RSA,
            claims(PUBLIC, "mcp:call")
                .issueTime(Date.from(Instant.now().minusSeconds(60)))
                .expirationTime(Date.from(Instant.now().plusSeconds(3)))
                .build());
    McpClient session = client("/servers/s/mcp", shortLived).initialized();
    BufferedReader stream = session.listen();

    // When
    List<CompletableFuture<String>> streams =
        List.of(
            ended(stream.lines()),
            streamed(shortLived, "/events"),
            streamed(shortLived, "/sse"),
            streamed(shortLived, "/servers/s/sse"),
            subscribed(shortLived, "/mcp"),
            subscribed(shortLived, "/servers/s/mcp"));
    CompletableFuture<String> ofAKey = streamed(EDGE, "/servers/s/sse");

    // Then
    for (CompletableFuture<String> each : streams) {
      each.get(20, TimeUnit.SECONDS);
    }
    assertTrue(streams.get(1).join().startsWith(": open"));
    assertTrue(streams.get(2).join().contains("event: endpoint"), streams.get(2).join());
    assertTrue(streams.get(4).join().contains("acknowledged"), streams.get(4).join());
    assertFalse(ofAKey.isDone());
  }

  private CompletableFuture<String> subscribed(String token, String path) throws Exception {
    HttpResponse<InputStream> open =
        client(path, token)
            .begin("subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}")
            .response()
            .get(20, TimeUnit.SECONDS);
    assertEquals(200, open.statusCode());
    return ended(new BufferedReader(new InputStreamReader(open.body())).lines());
  }

  /** Completes at the end of a stream with all of it. */
  private static CompletableFuture<String> ended(Stream<String> lines) {
    return CompletableFuture.supplyAsync(() -> lines.collect(Collectors.joining("\n")), THREADS);
  }

  @Test
  void addressesOfKeysInTheHeaderAreNotFetched() throws Exception {
    RSAKey own = TokenForge.rsa("r1");
    URI keys = URI.create(opaque.url() + "/keys");
    String lured =
        TokenForge.sign(
            own,
            TokenForge.header(own).jwkURL(keys).x509CertURL(keys).build(),
            claims(PUBLIC, "mcp:call").build());
    String right =
        TokenForge.sign(
            RSA,
            TokenForge.header(RSA).jwkURL(keys).x509CertURL(keys).build(),
            claims(PUBLIC, "mcp:call").build());

    assertEquals(401, echo(lured).status());
    assertEquals(200, echo(right).status());
    assertEquals(0, opaque.count("/keys"), opaque.requests().toString());
  }

  @Test
  void manyUnknownKeysAreFetchedOnceAndDoNotHarmGoodTokens() throws Exception {
    assertEquals(200, as(token("mcp:read"), "/servers").status());
    assertEquals(1, issuer.count("/jwks"));
    RSAKey invented = TokenForge.rsa("r2");

    IntStream.range(0, 50)
        .parallel()
        .forEach(
            i -> {
              String wrong =
                  TokenForge.sign(
                      invented,
                      TokenForge.header(invented).keyID("k" + i).build(),
                      claims(PUBLIC, "mcp:read").build());
              assertEquals(401, status(wrong));
            });

    assertTrue(issuer.count("/jwks") <= 2, issuer.requests().toString());
    assertEquals(200, as(token("mcp:read"), "/servers").status());
  }

  private int status(String token) {
    return answered(token, "/servers").status();
  }

  @ParameterizedTest
  @ValueSource(strings = {"down", "garbage", "huge", "redirect", "slow", "foreign"})
  void issuerThatCannotBeAskedIsUnavailableAndNoReasonToLogIn(String fault) throws Exception {
    CountDownLatch answered = new CountDownLatch(1);
    switch (fault) {
      case "garbage" -> issuer.answer("/jwks", e -> IssuerStub.json(e, 200, "<html>"));
      case "huge" ->
          issuer.answer(
              "/jwks",
              e -> IssuerStub.json(e, 200, "{\"keys\":[\"" + "x".repeat(1 << 20) + "\"]}"));
      case "redirect" ->
          issuer.answer(
              "/jwks",
              e -> {
                e.getResponseHeaders().set("location", opaque.url() + "/stolen");
                IssuerStub.json(e, 302, "{}");
              });
      case "slow" ->
          issuer.answer(
              "/jwks",
              e -> {
                e.sendResponseHeaders(200, 0);
                while (!isOver(answered)) {
                  e.getResponseBody().write(' ');
                  e.getResponseBody().flush();
                }
              });
      case "foreign" -> issuer.pretendToBe("https://other.example");
      default -> issuer.answer("/jwks", e -> IssuerStub.json(e, 500, "{}"));
    }
    String token = token("mcp:read");

    Answer answer = as(token, "/servers");

    answered.countDown();
    assertEquals(503, answer.status(), answer.toString());
    assertEquals("issuer_unavailable", answer.code());
    assertTrue(Integer.parseInt(answer.header("retry-after")) > 0);
    assertNull(answer.header("www-authenticate"));
    Answer health = as(EDGE, "/health/ready");
    assertEquals(200, health.status());
    assertEquals("corp", health.at("/unavailable_issuers/0"), health.toString());
    assertEquals(0, opaque.count("/stolen"));
    issuer.heal();
    bridge.until(() -> as(token, "/servers").status() == 200);
    assertFalse(as(EDGE, "/health").body().has("unavailable_issuers"));
  }

  /** Waits for a fifth of a second at most. */
  private static boolean isOver(CountDownLatch latch) {
    try {
      return latch.await(200, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  @Test
  void clientsThatLeaveWhileTheirTokenIsCheckedDoNoHarm() throws Exception {
    CountDownLatch left = new CountDownLatch(1);
    issuer.answer(
        "/jwks",
        e -> {
          while (!isOver(left)) {
            // the clients are still there
          }
          IssuerStub.json(e, 200, new JWKSet(List.of(RSA, EC)).toString(true));
        });
    String token = token("mcp:call");
    String request =
        "POST /servers/s/tools/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Authorization: Bearer "
            + token
            + "\r\nContent-Length: 12\r\n\r\n";
    try (CapturedLog log = new CapturedLog()) {
      for (int i = 0; i < 20; i++) {
        try (Socket client = new Socket("127.0.0.1", bridge.port())) {
          if (i % 2 == 0) {
            client.setSoLinger(true, 0);
          }
          String body = i % 4 < 2 ? "{\"text\":\"x\"}" : "{";
          client.getOutputStream().write((request + body).getBytes(StandardCharsets.US_ASCII));
          bridge.until(() -> issuer.count("/jwks") == 1);
        }
      }
      left.countDown();

      bridge.until(() -> echo(token).status() == 200);
      assertEquals(1, issuer.count("/jwks"));
      bridge.until(() -> as(EDGE, "/servers/s").body().path("pending_calls").asInt() == 0);
      assertEquals(
          List.of(), log.lines().stream().filter(line -> line.contains("SEVERE")).toList());
    }
  }

  @Test
  void opaqueTokenIsIntrospectedOnceAndItsVerdictKept() throws Exception {
    opaque.knows(
        "tok", "{'active':true,'sub':'bob','aud':['x','api'],'scope':'mcp:call mcp:read'}");

    List<Integer> statuses =
        IntStream.range(0, 30).parallel().mapToObj(i -> status("tok")).distinct().toList();

    assertEquals(List.of(200), statuses);
    assertEquals(1, opaque.count("/introspect"));
    assertEquals(200, echo("tok").status());
    assertEquals(1, opaque.count("/introspect"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'active':false};401",
        "{'active':true,'sub':'b','scope':'mcp:call'};401",
        "{'active':true,'sub':'|b','aud':'api','client_id':'b','scope':'mcp:call'};401",
        "{'active':true,'sub':'b','aud':'elsewhere','scope':'mcp:call'};401",
        "{'active':true,'aud':'api','scope':'mcp:call'};401",
        "{'active':true,'sub':'b','aud':'api','exp':1,'scope':'mcp:call'};401",
        "{'active':true,'sub':'b','aud':'api','exp':-1,'scope':'mcp:call'};401",
        "{'active':true,'sub':'b','aud':'api','exp':'9999999999','scope':'mcp:call'};401",
        "{'active':true,'sub':'b','aud':'api','nbf':9999999999,'scope':'mcp:call'};401",
        "{'active':true,'sub':'b','aud':'api','iss':'https://x.example','scope':'mcp:call'};401",
        "{'sub':'b','aud':'api','scope':'mcp:call'};503",
        "{'active':'true','sub':'b','aud':'api','scope':'mcp:call'};503",
        "{'active':true,'sub':'b','aud':'api','scope':'a','token_type':'Refresh'};401",
        "{'active':true,'sub':'b','aud':'api','scope':'a','token_use':'refresh_token'};401",
        "{'active':true,'sub':'b','aud':'api','scope':'a','typ':'Refresh'};401",
        "{'active':true,'sub':'b','aud':'api','scope':'a','typ':'ID'};401",
        "{'active':true,'sub':'b','aud':'api','scope':'mcp:call','token_type':'Bearer'};200",
        "{'active':true,'sub':'b','aud':'api','scope':'mcp:call'};200"
      })
  void introspectionHasToSayThatTheTokenIsForTheBridge(String answer, int status) throws Exception {
    opaque.knows("tok", answer);
    assertEquals(status, as("tok", "/servers").status());
  }

  /** A key that was withdrawn, or is for another bridge, is a secret that no issuer may see. */
  @Test
  void unknownApiKeyIsRefusedWithoutAskingTheIssuer() throws Exception {
    String withdrawn = ApiKeys.generate();
    assertEquals(401, as(withdrawn, "/servers").status());
    assertEquals(401, bridge.get("/servers", "x-api-key", withdrawn).status());
    assertEquals(0, opaque.count("/introspect"));

    assertEquals(401, as("opaque", "/servers").status());
    assertEquals(1, opaque.count("/introspect"));
  }

  @Test
  void longTokenIsRefusedWithoutAskingTheIssuer() throws Exception {
    for (String prefix : List.of("", "a.b.")) {
      Answer answer = as(prefix + "x".repeat((8 << 10) + 1), "/servers");
      assertEquals(401, answer.status());
      assertTrue(answer.header("www-authenticate").contains("\"malformed token\""));
    }
    assertEquals(0, opaque.count("/introspect"));
  }

  /** Who has no valid credential can cause introspections; half of them are left for others. */
  @Test
  void greedyAddressGetsHalfOfTheIntrospections() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    opaque.answer(
        "/introspect",
        e -> {
          while (!isOver(answer)) {
            // all introspections are under way
          }
          IssuerStub.json(e, 200, "{\"active\":false}");
        });
    List<CompletableFuture<Integer>> greedy =
        IntStream.range(0, 40)
            .mapToObj(i -> CompletableFuture.supplyAsync(() -> status("junk" + i), THREADS))
            .toList();
    bridge.until(() -> greedy.stream().filter(CompletableFuture::isDone).count() == 8);

    assertEquals(200, as(token("mcp:read"), "/servers").status());
    answer.countDown();
    List<Integer> statuses = greedy.stream().map(CompletableFuture::join).toList();
    assertEquals(8, statuses.stream().filter(status -> status == 429).count());
    assertEquals(32, statuses.stream().filter(status -> status == 401).count());
    assertEquals(401, status("junk again"));
  }

  @Test
  void failingIntrospectionIsNotRememberedAsARefusal() throws Exception {
    opaque.knows("tok", "{'active':true,'sub':'b','aud':'api','scope':'mcp:call'}");
    opaque.answer("/introspect", e -> IssuerStub.json(e, 500, "{}"));
    assertEquals(503, as("tok", "/servers").status());
    opaque.heal();
    assertEquals(200, as("tok", "/servers").status());
  }

  @Test
  void reloadEndsTheStreamsOfAnIssuerThatIsNoLongerTrusted() throws Exception {
    CompletableFuture<String> events = events(token("mcp:read"));

    bridge.reload(config(",'audiences':['y']"));

    assertTrue(events.get(20, TimeUnit.SECONDS).startsWith(": open"));
    assertEquals(200, as(token("y", "mcp:read"), "/servers").status());
  }

  @Test
  void tokenThatIsLookedUpDuringAReloadIsJudgedByTheNewConfiguration() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    opaque.answer(
        "/introspect",
        e -> {
          while (!isOver(answer)) {
            // the configuration is replaced
          }
          IssuerStub.json(
              e, 200, "{\"active\":true,\"sub\":\"b\",\"aud\":\"api\",\"scope\":\"mcp:read\"}");
        });
    CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> status("tok"), THREADS);
    bridge.until(() -> opaque.count("/introspect") == 1);

    bridge.reload(config("").replace("['api']", "['elsewhere']"));
    answer.countDown();

    assertEquals(401, status.get(20, TimeUnit.SECONDS));
  }

  /** The bridge proves who it is to servers with credentials of its own, if at all. */
  @Test
  void tokenReachesNoServerNoLogAndNoEvent() throws Exception {
    try (EchoApi api = EchoApi.start();
        CapturedLog log = new CapturedLog()) {
      api.on("/openapi.json", ApiDocument.create().with("get", "/mine", "mine", "").asScript());
      bridge.reload(
          config("")
              .replace(
                  "'mcpServers':{",
                  "'mcpServers':{'api':{'type':'openapi','url':'"
                      + api.url("/openapi.json")
                      + "'},"));
      String token = token("mcp:call");
      CompletableFuture<String> events = events(EDGE);
      bridge.until(() -> as(EDGE, "/servers/api").at("/state").equals("ready"));

      Answer sent =
          bridge.post("/servers/api/tools/mine", "{}", "authorization", "Bearer " + token);
      Answer environment =
          bridge.post("/servers/s/tools/env", "{}", "authorization", "Bearer " + token);
      Answer refused = as(token + "x", "/servers");
      bridge.reload(config("").replace("corp-alice", "renamed"));

      assertEquals(200, sent.status(), sent.toString());
      String secret = token.substring(token.lastIndexOf('.') + 1);
      List<String> places =
          List.of(
              sent.text(),
              api.requests().toString(),
              environment.text(),
              refused.text(),
              as(EDGE, "/metrics").text(),
              events.get(20, TimeUnit.SECONDS),
              log.lines().toString());
      places.forEach(place -> assertFalse(place.contains(secret), place));
      assertEquals(List.of(), api.requests("/mine").get(0).headers("authorization"));
    }
  }

  /** A bridge that got two credentials would refuse the call. */
  @Test
  void tokenReachesNoServerOfAnotherKindAndNoRecord(@TempDir Path folder) throws Exception {
    String far =
        "{" + TestBridge.auth(TestBridge.key("near", EDGE, "'read','call'")) + ",'mcpServers':{";
    try (GrpcServer grpc = GrpcServer.start();
        SpanReceiver spans = new SpanReceiver();
        TestBridge other = TestBridge.of(far + "'s':" + TestBridge.entry("") + "}}");
        TestBridge own =
            TestBridge.of(
                config("")
                    .replace(
                        "'mcpServers':{",
                        ("'audit':{'folder':'%s','arguments':'full'},%s,"
                                + "'mcpServers':{'grpc':{'type':'grpc','url':'%s'},'far':{'type':"
                                + "'mcp','url':'%s','headers':{'x-api-key':'%s'}},'own':%s,")
                            .formatted(
                                folder,
                                spans.everything(),
                                grpc.url(),
                                other.uri("/mcp"),
                                EDGE,
                                TestBridge.entry("'isolation':'caller'"))))) {
      String token = token("mcp:call");
      String[] credential = {"authorization", "Bearer " + token};
      StringBuilder answers = new StringBuilder();
      for (String call :
          List.of("grpc/tools/TestService_EmptyCall", "far/tools/s__env", "own/tools/env")) {
        String id = call.replaceAll("/.*", "");
        String tool = '"' + call.replaceAll(".*/", "") + '"';
        own.until(
            () -> own.get("/servers/" + id + "/tools", "x-api-key", EDGE).text().contains(tool));
        Answer answer = own.post("/servers/" + call, "{}", credential);
        assertEquals(200, answer.status(), call + " " + answer);
        answers.append(answer.text());
      }
      assertEquals(401, own.get("/servers", "authorization", "Bearer " + token + "x").status());
      own.until(() -> spans.spans().size() >= 9); // door, gate and server of each call
      own.until(() -> TrailFiles.of(TrailFiles.records(folder), "call.outcome").size() == 3);

      String secret = token.substring(token.lastIndexOf('.') + 1);
      List<String> places =
          List.of(
              answers.toString(),
              TrailFiles.records(folder).toString(),
              spans.spans().toString(),
              grpc.requests().toString());
      for (String place : places) {
        assertFalse(place.contains(secret) || place.contains(EDGE), place);
      }
    }
  }

  private CompletableFuture<String> events(String token) throws Exception {
    return streamed(token, "/events");
  }

  /** Opens a stream; completes at its end with all of it. */
  private CompletableFuture<String> streamed(String token, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(bridge.uri(path)).header("authorization", "Bearer " + token).build();
    HttpResponse<Stream<String>> open =
        bridge.client().send(request, HttpResponse.BodyHandlers.ofLines());
    assertEquals(200, open.statusCode());
    return ended(open.body());
  }

  private Answer answered(String token, String path) {
    try {
      return as(token, path);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void twoCredentialsAreNotAccepted() throws Exception {
    String token = "Bearer " + token("mcp:read");
    assertEquals(200, bridge.get("/servers", "authorization", token).status());
    for (String[] two :
        new String[][] {
          {"authorization", token, "authorization", token},
          {"authorization", token, "x-api-key", EDGE},
          {"x-api-key", EDGE, "x-api-key", EDGE}
        }) {
      Answer answer = bridge.get("/servers", two);

      assertEquals("400 malformed_request", answer.status() + " " + answer.code());
      String challenge = answer.header("www-authenticate");
      assertTrue(challenge.startsWith("Bearer error=\"invalid_request\", "), challenge);
      assertFalse(answer.toString().contains(EDGE));
    }
  }

  @AfterAll
  static void end() {
    THREADS.shutdownNow();
  }

  @AfterEach
  void theBridgeIsStillThere() throws Exception {
    assertEquals(200, as(EDGE, "/health/live").status());
  }
}
