package dev.mcpbridge.cli.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.IssuerStub;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The stub is the bridge and its authorization server at the same time. */
class LoginsTest {
  private static final String OAUTH = "/.well-known/oauth-authorization-server";
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";
  private static final Logins.Request REQUEST = new Logins.Request("", "", null, List.of(), 0);

  @TempDir Path folder;
  @AutoClose private IssuerStub stub;

  private final List<String> forms = new CopyOnWriteArrayList<>();
  private final List<String> authorizations = new CopyOnWriteArrayList<>();
  private final List<String> shown = new CopyOnWriteArrayList<>();
  private Logins logins;
  private String lifetime = "3600";

  @BeforeEach
  void start() throws IOException {
    stub = IssuerStub.at("");
    logins = new Logins(folder.resolve("state/logins.json"));
    published(stub.url(), stub.url());
    metadata(stub.url(), "\"S256\"", "registration_endpoint");
    json("/register", 201, "{\"client_id\":\"registered\"}");
    stub.answer(
        "/token",
        exchange -> {
          record(exchange);
          IssuerStub.json(
              exchange,
              200,
              "{\"access_token\":\"access-%d\",\"refresh_token\":\"refresh-%1$d\",\"expires_in\":%s}"
                  .formatted(forms.size(), lifetime));
        });
    stub.answer(
        "/revoke",
        exchange -> {
          record(exchange);
          IssuerStub.json(exchange, 200, "{}");
        });
  }

  private void json(String path, int status, String body) {
    stub.answer(path, exchange -> IssuerStub.json(exchange, status, body));
  }

  private void record(HttpExchange exchange) throws IOException {
    authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("authorization")));
    forms.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
  }

  private void published(String resource, String issuer) {
    json(
        RESOURCE,
        200,
        "{\"resource\":\"%s\",\"authorization_servers\":[\"%s\"],\"scopes_supported\":[\"mcp:read\"]}"
            .formatted(resource, issuer));
  }

  private void metadata(String issuer, String methods, String registration) {
    json(
        OAUTH,
        200,
        ("{'issuer':'%s','authorization_endpoint':'%2$s/authorize','token_endpoint':'%2$s/token',"
                + "'revocation_endpoint':'%2$s/revoke','%4$s':'%2$s/register',"
                + "'device_authorization_endpoint':'%2$s/device',"
                + "'authorization_response_iss_parameter_supported':true,"
                + "'code_challenge_methods_supported':[%3$s]}")
            .replace('\'', '"')
            .formatted(issuer, stub.url(), methods, registration));
  }

  /** Opens the page that was shown, and is sent back with the parameters and the state. */
  private Consumer<String> browser(String parameters) {
    return text -> {
      shown.add(text);
      send(text, parameters, value(text, "state"));
    };
  }

  private static int send(String shown, String parameters, String state) {
    String back = value(shown, "redirect_uri") + "?state=" + state + "&" + parameters;
    try {
      return HttpClient.newHttpClient()
          .send(
              HttpRequest.newBuilder(URI.create(back)).build(),
              HttpResponse.BodyHandlers.ofString())
          .statusCode();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String value(String text, String name) {
    String value = text.replaceAll("(?s).*[?&]" + name + "=([^&]*).*", "$1");
    return URLDecoder.decode(value, StandardCharsets.UTF_8);
  }

  private String iss() {
    return "iss=" + URLEncoder.encode(stub.url(), StandardCharsets.UTF_8);
  }

  private void logIn() throws Exception {
    logins.begin(stub.url(), REQUEST, false, browser("code=c&" + iss()));
  }

  private BridgeException refusedLogin(String parameters) {
    return assertThrows(
        BridgeException.class, () -> logins.begin(stub.url(), REQUEST, false, browser(parameters)));
  }

  private Optional<String> token() {
    return logins.token(stub.url());
  }

  @Test
  void codeIsRedeemedWithItsVerifierForTheBridge() throws Exception {
    logIn();

    assertEquals(Optional.of("access-1"), token());
    String resource = URLEncoder.encode(stub.url(), StandardCharsets.UTF_8);
    assertTrue(forms.get(0).contains("code=c&"), forms.toString());
    assertTrue(forms.get(0).contains("code_verifier="), forms.toString());
    assertTrue(forms.get(0).endsWith("resource=" + resource), forms.toString());
    assertEquals("mcp:read", value(shown.get(0), "scope"));
    assertEquals("registered", value(shown.get(0), "client_id"));
  }

  @Test
  void anotherBridgeGetsNoToken() throws Exception {
    logIn();

    assertEquals(Optional.empty(), logins.token("https://other.example"));
  }

  @Test
  void loginsAreReadableByTheirUserOnly() throws Exception {
    logIn();

    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(folder.resolve("state/logins.json"))));
  }

  @ParameterizedTest
  @CsvSource({
    "code=c&iss=https%3A%2F%2Fevil.example,does not come from",
    "code=c,does not come from",
    "error=access_denied&iss=https%3A%2F%2Fevil.example,does not come from"
  })
  void answerOfAnotherIssuerReachesNoTokenEndpoint(String parameters, String message) {
    BridgeException refused = refusedLogin(parameters);

    assertTrue(refused.getMessage().contains(message), refused.getMessage());
    assertEquals(0, stub.count("/token"));
    assertEquals(Optional.empty(), token());
  }

  @Test
  void userWhoRefusesIsReported() {
    BridgeException refused = refusedLogin("error=access_denied&" + iss());

    assertEquals("The login was refused: access_denied", refused.getMessage());
  }

  @Test
  void answerToAnotherLoginIsIgnored() throws Exception {
    List<Integer> statuses = new ArrayList<>();

    logins.begin(
        stub.url(),
        REQUEST,
        false,
        text -> {
          statuses.add(send(text, "code=evil&" + iss(), "x"));
          statuses.add(send(text, "code=c&" + iss(), value(text, "state")));
        });

    assertEquals(List.of(400, 200), statuses);
    assertTrue(forms.get(0).contains("code=c&"), forms.toString());
  }

  @Test
  void metadataOfAnotherIssuerIsNotUsed() {
    metadata("https://evil.example", "\"S256\"", "registration_endpoint");

    assertTrue(refusedLogin("").getMessage().contains("another issuer"));
    assertTrue(shown.isEmpty());
  }

  @Test
  void issuerWithoutTlsIsNotUsed() {
    published(stub.url(), "http://issuer.example");

    assertTrue(refusedLogin("").getMessage().contains("not an https URL"));
  }

  @Test
  void bridgeOfAnotherUrlIsNamed() {
    published("https://tools.example", stub.url());

    assertTrue(refusedLogin("").getMessage().endsWith("use --url https://tools.example"));
  }

  @Test
  void bridgeWithoutIssuersTakesKeysOnly() {
    json(RESOURCE, 404, "{}");

    assertTrue(refusedLogin("").getMessage().endsWith("set MCP_BRIDGE_KEY"));
  }

  @Test
  void issuerWithoutPkceIsNotUsed() {
    metadata(stub.url(), "\"plain\"", "registration_endpoint");

    assertTrue(refusedLogin("").getMessage().contains("PKCE"));
    assertTrue(shown.isEmpty());
  }

  @Test
  void clientIsNeededWhereNoneCanBeRegistered() throws Exception {
    metadata(stub.url(), "\"S256\"", "x");
    assertTrue(refusedLogin("").getMessage().contains("--client-id"));

    logins.begin(
        stub.url(),
        new Logins.Request(stub.url(), "known", "its secret", List.of("mcp:call"), 0),
        false,
        browser("code=c&" + iss()));

    assertTrue(forms.get(0).contains("client_id=known"), forms.toString());
    assertFalse(forms.get(0).contains("its"), forms.toString());
    assertEquals("Basic a25vd246aXRzK3NlY3JldA==", authorizations.get(0));
    assertEquals("mcp:call", value(shown.get(0), "scope"));
  }

  @Test
  void textOfAnIssuerDoesNotControlTheTerminal() {
    json("/register", 400, "{\"error\":\"x\\u001b[2J\"}");

    assertFalse(refusedLogin("").getMessage().contains("\u001b"));
  }

  @Test
  void deviceIsLoggedInWhenItsCodeWasEntered() throws Exception {
    json(
        "/device",
        200,
        "{\"device_code\":\"d\",\"user_code\":\"ABCD\",\"verification_uri\":\"https://i.example/d\","
            + "\"interval\":1}");
    List<String> polls = new CopyOnWriteArrayList<>();
    stub.answer(
        "/token",
        exchange -> {
          polls.add("poll");
          record(exchange);
          IssuerStub.json(
              exchange,
              polls.size() == 1 ? 400 : 200,
              polls.size() == 1
                  ? "{\"error\":\"authorization_pending\"}"
                  : "{\"access_token\":\"of-device\"}");
        });

    logins.begin(stub.url(), REQUEST, true, shown::add);

    assertEquals(List.of("Open https://i.example/d and enter the code ABCD"), shown);
    assertEquals(Optional.of("of-device"), token());
    assertTrue(forms.get(1).contains("device_code=d"), forms.toString());
  }

  @Test
  void deviceThatWasRefusedIsNotLoggedIn() {
    json("/device", 200, "{\"device_code\":\"d\",\"user_code\":\"A\",\"interval\":1}");
    json("/token", 400, "{\"error\":\"access_denied\"}");

    BridgeException refused =
        assertThrows(
            BridgeException.class, () -> logins.begin(stub.url(), REQUEST, true, shown::add));

    assertEquals("The login was refused: access_denied", refused.getMessage());
    assertEquals(Optional.empty(), token());
  }

  @Test
  void tokenThatExpiresIsRenewedOnceForAll() throws Exception {
    lifetime = "1";
    logIn();
    lifetime = "3600";

    List<CompletableFuture<Optional<String>>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Logins own = new Logins(folder.resolve("state/logins.json"));
      all.add(CompletableFuture.supplyAsync(() -> own.token(stub.url())));
    }

    for (CompletableFuture<Optional<String>> each : all) {
      assertEquals(Optional.of("access-2"), each.join());
    }
    assertEquals(2, stub.count("/token"));
    assertTrue(forms.get(1).contains("refresh_token=refresh-1"), forms.toString());
  }

  @Test
  void loginThatCannotBeRenewedHasEnded() throws Exception {
    lifetime = "1";
    logIn();
    json("/token", 400, "{\"error\":\"invalid_grant\"}");

    BridgeException ended = assertThrows(BridgeException.class, this::token);

    assertEquals(ErrorCode.UNAUTHENTICATED, ended.code());
    assertTrue(ended.getMessage().endsWith("run mcp-bridge login --url " + stub.url()));
  }

  @Test
  void issuerThatIsDownCostsNoLogin() throws Exception {
    lifetime = "1";
    logIn();
    json("/token", 503, "{}");
    assertEquals(
        ErrorCode.ISSUER_UNAVAILABLE, assertThrows(BridgeException.class, this::token).code());

    json("/token", 200, "{\"access_token\":\"again\",\"expires_in\":3600}");

    assertEquals(Optional.of("again"), token());
  }

  @Test
  void logoutRevokesTheTokens() throws Exception {
    logIn();

    assertEquals(new Logins.Ended(true, true), logins.end(stub.url()));

    assertTrue(forms.get(1).contains("token=refresh-1"), forms.toString());
    assertEquals(Optional.empty(), token());
    assertEquals(new Logins.Ended(false, false), logins.end(stub.url()));
  }

  @Test
  void logoutSaysIfTheIssuerRevokesNothing() throws Exception {
    logIn();
    json("/revoke", 503, "{}");

    assertEquals(new Logins.Ended(true, false), logins.end(stub.url()));
  }

  @Test
  void loginThatIsReplacedIsRevoked() throws Exception {
    logIn();
    logIn();

    assertEquals(1, stub.count("/revoke"));
    assertEquals(Optional.of("access-2"), token());
  }

  @Test
  void secretGoesToTheExpectedIssuerOnly() {
    Logins.Request any = new Logins.Request("", "known", "secret", List.of(), 0);
    Logins.Request other =
        new Logins.Request("https://corp.example", "known", "secret", List.of(), 0);

    assertThrows(BridgeException.class, () -> logins.begin(stub.url(), any, true, shown::add));
    BridgeException refused =
        assertThrows(
            BridgeException.class, () -> logins.begin(stub.url(), other, true, shown::add));

    assertTrue(refused.getMessage().contains("names the issuer " + stub.url()));
    assertTrue(forms.isEmpty());
  }

  @ParameterizedTest
  @CsvSource({"429", "500", "503", "302", "400"})
  void onlyTheEndOfTheGrantEndsALogin(int status) throws Exception {
    lifetime = "1";
    logIn();
    json("/token", status, "{\"error\":\"slow_down\"}");

    assertEquals(
        ErrorCode.ISSUER_UNAVAILABLE, assertThrows(BridgeException.class, this::token).code());
  }

  @Test
  void issuerThatStallsAfterItsHeadersIsGivenUp() throws Exception {
    lifetime = "1";
    logIn();
    CompletableFuture<Void> ended = new CompletableFuture<>();
    stub.answer(
        "/token",
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().flush();
          ended.join();
        });

    BridgeException late = assertThrows(BridgeException.class, this::token);
    ended.complete(null);

    assertTrue(late.getMessage().contains("no answer in 10 s"), late.getMessage());
  }

  @Test
  void tokenThatCannotBeSentIsNone() {
    json("/token", 200, "{\"access_token\":\"a\\nb\"}");

    assertTrue(refusedLogin("code=c&" + iss()).getMessage().startsWith("The issuer gave no token"));
  }

  @Test
  void portInUseIsNamed() {
    int port = URI.create(stub.url()).getPort();
    Logins.Request request = new Logins.Request("", "", null, List.of(), port);

    BridgeException refused =
        assertThrows(
            BridgeException.class, () -> logins.begin(stub.url(), request, false, shown::add));

    assertTrue(refused.getMessage().startsWith("Port " + port + " cannot be used"));
  }
}
