package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.RSAKey;
import com.sun.net.httpserver.HttpExchange;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tokens of a server by assertions of the callers' identity provider (ID-JAG). */
@Tag("access")
class IdentityAssertionIT {
  private static final RSAKey KEY = TokenForge.rsa("r1");
  private static final String API_KEY = ApiKeys.generate();
  private static final String ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

  @AutoClose private final ProtectedServer notes = new ProtectedServer();
  @AutoClose private final IssuerStub provider = IssuerStub.at("", KEY.toPublicJWK());
  @AutoClose private TestBridge bridge;

  private final List<String> exchanges = new CopyOnWriteArrayList<>();

  IdentityAssertionIT() throws Exception {}

  @BeforeEach
  void start() throws Exception {
    provider.answer("/exchange", exchange -> issue(exchange, ID_JAG, "N_A"));
    String oauth =
        ",'as':'idJag','clientId':'bridge','clientSecret':'at-notes','scopes':['notes'],"
            + "'issuers':['%s'],'identityProvider':{'tokenUrl':'%s/exchange',"
            + "'clientId':'bridge-at-provider','clientSecret':'at-provider'}";
    bridge =
        TestBridge.of(
            ("{'auth':{'keys':[%s],'issuers':[{'name':'corp','issuer':'%s','audiences':['all']}]},"
                    + "'mcpServers':{'notes':%s}}")
                .formatted(
                    TestBridge.key("key", API_KEY, "'read','call'"),
                    provider.url(),
                    notes.entry(oauth.formatted(notes.url(""), provider.url()))));
    bridge.until(
        () -> bridge.get("/servers/notes", "x-api-key", API_KEY).at("/state").equals("ready"));
  }

  /** Issues an assertion with the claims of the token that was sent. */
  private void issue(HttpExchange exchange, String type, String tokenType) throws IOException {
    String form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    exchanges.add(exchange.getRequestHeaders().getFirst("authorization") + " " + form);
    String subject = form.replaceAll(".*subject_token=([^&]+).*", "$1").split("\\.")[1];
    IssuerStub.json(
        exchange,
        200,
        "{\"access_token\":\"jag.%s.jag\",\"issued_token_type\":\"%s\",\"token_type\":\"%s\"}"
            .formatted(subject, type, tokenType));
  }

  private Answer call(String subject) throws Exception {
    String token = TokenForge.token(KEY, provider.url(), subject);
    return bridge.post("/servers/notes/tools/me", "{}", "authorization", "Bearer " + token);
  }

  private List<String> presented() {
    return notes.tokenRequests().stream().filter(form -> form.contains("jwt-bearer")).toList();
  }

  @Test
  void callerIsKnownToTheServerWithoutAConsent() throws Exception {
    assertEquals("alice", call("alice").firstText());
    assertEquals("bob", call("bob").firstText());

    String asked = exchanges.get(0);
    assertTrue(asked.contains("requested_token_type=" + encoded(ID_JAG)), asked);
    assertTrue(asked.contains("audience=" + encoded(notes.url(""))), asked);
    assertTrue(asked.contains("resource=" + encoded(notes.url("/mcp"))), asked);
    assertTrue(asked.contains("scope=notes"), asked);
    assertEquals(2, presented().size());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Test
  void neitherPartyGetsWhatIsForTheOther() throws Exception {
    call("alice");

    String alice = TokenForge.token(KEY, provider.url(), "alice").split("\\.")[2];
    assertFalse(notes.tokenRequests().toString().contains(alice));
    assertFalse(notes.authorizations().toString().contains("jag."));
    assertTrue(exchanges.get(0).contains(basic("bridge-at-provider", "at-provider")));
    assertFalse(exchanges.toString().contains(basic("bridge", "at-notes")));
  }

  private static String basic(String id, String secret) {
    byte[] pair = (id + ":" + secret).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(pair);
  }

  @ParameterizedTest
  @CsvSource({
    "urn:ietf:params:oauth:token-type:access_token,Bearer",
    "urn:ietf:params:oauth:token-type:id-jag,Bearer"
  })
  void tokenOfAnotherTypeIsNotPresented(String type, String tokenType) throws Exception {
    provider.answer("/exchange", exchange -> issue(exchange, type, tokenType));

    Answer refused = call("alice");

    assertEquals("forbidden", refused.code(), refused.toString());
    assertEquals("no", refused.at("/executed"));
    assertTrue(presented().isEmpty());
  }

  @Test
  void refusalOfEitherIsForbidden() throws Exception {
    provider.answer(
        "/exchange", exchange -> IssuerStub.json(exchange, 400, "{\"error\":\"access_denied\"}"));
    Answer byProvider = call("alice");
    provider.answer("/exchange", exchange -> issue(exchange, ID_JAG, "N_A"));

    Answer byServer = call("mallory");

    assertEquals("forbidden", byProvider.code(), byProvider.toString());
    assertTrue(byProvider.at("/detail").contains("access_denied"), byProvider.toString());
    assertEquals("forbidden", byServer.code(), byServer.toString());
    assertTrue(byServer.at("/detail").contains("invalid_grant"), byServer.toString());
  }

  @Test
  void providerThatIsDownIsUnavailable() throws Exception {
    provider.answer("/exchange", exchange -> IssuerStub.json(exchange, 200, "no json"));

    assertEquals("issuer_unavailable", call("alice").code());
  }

  @Test
  void callerWithoutATokenIsRefused() throws Exception {
    Answer refused = bridge.post("/servers/notes/tools/me", "{}", "x-api-key", API_KEY);

    assertEquals("forbidden", refused.code(), refused.toString());
    assertTrue(exchanges.isEmpty());
  }
}
