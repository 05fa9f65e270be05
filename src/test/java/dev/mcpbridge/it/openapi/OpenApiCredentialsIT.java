package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EchoApi.Request;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Credentials sent to an API: the operator's or the caller's own. */
@Tag("openapi")
class OpenApiCredentialsIT {
  private static final String ANN = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String SECRET = "s3cr3t-of-the-operator";
  private static final List<String> RESPONSES = new CopyOnWriteArrayList<>();
  private static final AtomicInteger TOKENS = new AtomicInteger();

  private static CapturedLog log;
  private static EchoApi documents;
  private static EchoApi tokens;
  private static EchoApi api;
  private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    log = new CapturedLog();
    int closed = FreePorts.find(1).get(0);
    EchoApi.Script refusal = EchoApi.respondWith(401, "text/plain", "who are you?");
    EchoApi.Script granted = EchoApi.respondWith(200, "text/plain", "granted");
    api =
        EchoApi.start()
            .on("/ok", granted)
            .on("/forbidden", 403, "text/plain", "not you")
            .on(
                "/mine",
                (request, peer) ->
                    (request.headers("authorization").isEmpty() ? refusal : granted)
                        .answer(request, peer))
            .on(
                "/fresh",
                (request, peer) ->
                    (("Bearer t" + TOKENS).equals(request.header("authorization"))
                            ? granted
                            : refusal)
                        .answer(request, peer));
    tokens =
        EchoApi.start()
            .on(
                "/token",
                (request, peer) ->
                    EchoApi.json(
                            "{\"access_token\":\"t%s\",\"expires_in\":3600}"
                                .formatted(TOKENS.incrementAndGet()))
                        .answer(request, peer))
            .on("/page", 200, "text/html", "<html>" + SECRET)
            .on("/none", 200, "application/json", "{\"token_type\":\"" + SECRET + "\"}")
            .on("/error", 500, "application/json", "{\"access_token\":\"" + SECRET + "\"}")
            .on(
                "/lines",
                200,
                "application/json",
                "{\"access_token\":\"" + SECRET + "\\r\\nX-Injected: 1\"}")
            .on(
                "/huge",
                200,
                "application/json",
                "{\"access_token\":\"" + "x".repeat(100_000) + "\"}")
            .on("/breaksoff", EchoApi.truncateResponse());
    ApiDocument document = ApiDocument.create().withGets("ok mine fresh forbidden");
    documents = EchoApi.start().on("/openapi.json", document.asScript());
    bridge =
        TestBridge.of(
            """
            {'auth':{'keys':[%s,%s]},'mcpServers':{'stdio':%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,
            %s,%s,%s,%s,'login':{'type':'openapi','url':'%s','server':'%s',
            'authUrl':'https://login.example/start'}}}"""
                .formatted(
                    TestBridge.key("ann", ANN, "'read','call'"),
                    TestBridge.key("bob", BOB, "'read','call'"),
                    TestBridge.entry(ExactServer.class, ""),
                    entry("header", "{'type':'apiKey','name':'X-Key','value':'" + SECRET + "'}"),
                    entry(
                        "query",
                        "{'type':'apiKey','in':'query','name':'key','value':'" + SECRET + "&x=1'}"),
                    entry(
                        "cookie",
                        "{'type':'apiKey','in':'cookie','name':'key','value':'" + SECRET + ";x'}"),
                    entry("basic", "{'type':'basic','user':'me','password':'" + SECRET + "'}"),
                    entry("bearer", "{'type':'bearer','token':'" + SECRET + "'}"),
                    oauth("oauth2", tokens.url("/token")),
                    oauth("down", "http://127.0.0.1:" + closed + "/token"),
                    oauth("page", tokens.url("/page")),
                    oauth("none", tokens.url("/none")),
                    oauth("error", tokens.url("/error")),
                    oauth("lines", tokens.url("/lines")),
                    oauth("huge", tokens.url("/huge")),
                    oauth("breaksoff", tokens.url("/breaksoff")),
                    documents.url("/openapi.json"),
                    api.url("")));
    for (JsonNode server : sendRequest("GET", "/servers", "", ANN).body().path("servers")) {
      String id = server.isTextual() ? server.asText() : server.path("id").asText();
      bridge.until(
          () -> sendRequest("GET", "/servers/" + id, "", ANN).at("/state").equals("ready"));
    }
  }

  private static String entry(String name, String auth) {
    return "'%s':{'type':'openapi','url':'%s','server':'%s','auth':%s}"
        .formatted(name, documents.url("/openapi.json"), api.url(""), auth);
  }

  private static String oauth(String name, String url) {
    return entry(
        name,
        "{'type':'oauth2','tokenUrl':'%s','clientId':'me','clientSecret':'%s','scope':'a b'}"
            .formatted(url, SECRET));
  }

  @AfterAll
  static void stop() throws Exception {
    bridge.close();
    for (EchoApi each : List.of(api, tokens, documents)) {
      each.close();
    }
    log.close();
    assertFalse(String.join("\n", RESPONSES).contains(SECRET), "a response contains a secret");
    assertFalse(String.join("\n", log.lines()).contains(SECRET), "the log contains a secret");
    assertFalse(String.join("\n", log.lines()).contains("of-ann"), "the log contains a secret");
  }

  private static Answer sendRequest(
      String method, String path, String body, String key, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(bridge.uri(path))
            .header("authorization", "Bearer " + key)
            .header("content-type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    HttpResponse<String> response =
        bridge.client().send(request.build(), HttpResponse.BodyHandlers.ofString());
    RESPONSES.add(response.body() + response.headers().map());
    return new Answer(response.statusCode(), response.body(), response);
  }

  private static Answer call(String server, String tool, String key, String... headers)
      throws Exception {
    return sendRequest("POST", "/servers/" + server + "/tools/" + tool, "{}", key, headers);
  }

  private static Request seen(String server, String key, String... headers) throws Exception {
    Answer answer = call(server, "ok", key, headers);
    assertEquals("granted", answer.firstText(), answer.text());
    return api.lastRequest();
  }

  @Test
  void credentialsAreSentOnlyWhereTheyBelong() throws Exception {
    assertEquals(SECRET, seen("header", ANN).header("X-Key"));
    assertEquals("key=" + SECRET + "%26x%3D1", seen("query", ANN).query());
    assertEquals("key=" + SECRET + "%3Bx", seen("cookie", ANN).header("cookie"));
    assertEquals(
        List.of("Basic bWU6czNjcjN0LW9mLXRoZS1vcGVyYXRvcg=="),
        seen("basic", ANN).headers("authorization"));
    assertEquals(List.of("Bearer " + SECRET), seen("bearer", ANN).headers("authorization"));

    assertTrue(documents.requests().size() >= 14);
    for (Request request : documents.requests()) {
      assertFalse(request.toString().contains(SECRET), "the document server received a secret");
      assertNull(request.header("authorization"));
    }
    for (String path : List.of("/servers", "/servers/query", "/servers/oauth2", "/tools")) {
      sendRequest("GET", path, "", ANN);
    }
  }

  @Test
  void tokenIsCachedUntilTheApiRejectsIt() throws Exception {
    for (int i = 0; i < 5; i++) {
      assertEquals("granted", call("oauth2", "fresh", ANN).firstText());
    }
    int fetched = tokens.requests("/token").size();
    assertEquals(1, fetched);
    Request tokenRequest = tokens.requests("/token").get(0);
    assertEquals("grant_type=client_credentials&scope=a+b", tokenRequest.text());
    assertTrue(tokenRequest.header("authorization").startsWith("Basic "));
    TOKENS.addAndGet(10);

    Answer rejected = call("oauth2", "fresh", ANN);

    assertTrue(rejected.body().path("isError").asBoolean(), rejected.text());
    assertEquals("granted", call("oauth2", "fresh", ANN).firstText());
    assertEquals("granted", call("oauth2", "fresh", BOB).firstText());
    assertEquals(2, tokens.requests("/token").size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"down", "page", "none", "error", "lines", "huge", "breaksoff"})
  void noCallIsMadeWithoutAToken(String server) throws Exception {
    int before = api.requests().size();

    Answer answer = call(server, "ok", ANN);

    assertEquals(502, answer.status(), answer.text());
    assertEquals("no", answer.at("/executed"), answer.text());
    assertTrue(answer.text().contains("oken"), answer.text());
    assertEquals(before, api.requests().size());
  }

  @Test
  void requiredLoginIsReportedWithALink() throws Exception {
    Answer answer = call("login", "mine", ANN);

    assertEquals(403, answer.status(), answer.text());
    assertEquals("consent_required", answer.code());
    assertTrue(answer.at("/connect_url").startsWith(bridge.uri("/connect/").toString()));
    assertEquals("consent_required", call("login", "forbidden", ANN).code());
  }

  @Test
  void callersCredentialReplacesTheOperators() throws Exception {
    for (String server : List.of("header", "query", "cookie", "basic", "bearer", "oauth2")) {
      Request request = seen(server, ANN, "x-upstream-authorization", "Bearer of-ann");
      assertEquals(List.of("Bearer of-ann"), request.headers("authorization"));
      assertNull(request.header("x-key"));
      assertNull(request.header("cookie"));
      assertEquals("", request.query());
      assertNull(request.header("x-upstream-authorization"));
    }
    assertEquals(List.of("Bearer " + SECRET), seen("bearer", ANN).headers("authorization"));
    assertEquals(
        "granted", call("login", "mine", ANN, "x-upstream-authorization", "x").firstText());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/batch | {'calls':[{'server':'bearer','tool':'ok'}]}",
        "/toolcall | {'tool_calls':[{'id':'1','type':'function','function':"
            + "{'name':'bearer__ok','arguments':'{}'}}]}"
      })
  void everyApiAcceptsACallersCredential(String path, String body) throws Exception {
    int before = api.requests().size();

    sendRequest(
        "POST", path, TestBridge.json(body), ANN, "x-upstream-authorization", "Bearer of-ann");

    assertEquals(before + 1, api.requests().size());
    assertEquals(List.of("Bearer of-ann"), api.lastRequest().headers("authorization"));
    sendRequest("POST", path, TestBridge.json(body), BOB);
    assertEquals(List.of("Bearer " + SECRET), api.lastRequest().headers("authorization"));
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "Bearer a\tb"})
  void invalidCredentialHeaderIsRejected(String value) throws Exception {
    int before = api.requests().size();

    assertEquals(400, call("bearer", "ok", ANN, "x-upstream-authorization", value).status());
    assertEquals(before, api.requests().size());
  }

  @Test
  void storedCredentialIsUsedUntilItIsDeleted() throws Exception {
    String path = "/servers/bearer/credentials";
    assertEquals(
        204, sendRequest("PUT", path, "{\"authorization\":\"Bearer of-ann\"}", ANN).status());

    assertEquals("Bearer of-ann", seen("bearer", ANN).header("authorization"));
    assertEquals("Bearer " + SECRET, seen("bearer", BOB).header("authorization"));
    assertNull(seen("header", ANN).header("authorization"));
    assertEquals(
        "Bearer now",
        seen("bearer", ANN, "x-upstream-authorization", "Bearer now").header("authorization"));

    assertEquals(204, sendRequest("DELETE", path, "", BOB).status());
    assertEquals("Bearer of-ann", seen("bearer", ANN).header("authorization"));
    assertEquals(204, sendRequest("DELETE", path, "", ANN).status());
    assertEquals("Bearer " + SECRET, seen("bearer", ANN).header("authorization"));
  }

  @Test
  void storedCredentialExpires() throws Exception {
    assertEquals(
        204,
        sendRequest(
                "PUT",
                "/servers/basic/credentials",
                "{\"authorization\":\"Bearer of-ann\",\"expiresIn\":5}",
                ANN)
            .status());
    assertEquals("Bearer of-ann", seen("basic", ANN).header("authorization"));

    bridge.until(() -> seen("basic", ANN).header("authorization").startsWith("Basic "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | 422",
        "{\"authorization\":1} | 422",
        "{\"authorization\":\"\"} | 422",
        "{\"authorization\":\"a\\r\\nb: c\"} | 422",
        "{\"authorization\":\"x\",\"expiresIn\":0} | 422",
        "{\"authorization\":\"x\",\"expiresIn\":999999999} | 422",
        "[] | 400",
        "nonsense | 400"
      })
  void invalidCredentialIsNotStored(String body, int status) throws Exception {
    assertEquals(status, sendRequest("PUT", "/servers/cookie/credentials", body, ANN).status());
    assertNull(seen("cookie", ANN).header("authorization"));
    assertEquals(
        404,
        sendRequest("PUT", "/servers/unknown/credentials", "{\"authorization\":\"x\"}", ANN)
            .status());
  }

  @Test
  void mcpServerNeverReceivesACredential() throws Exception {
    sendRequest("PUT", "/servers/stdio/credentials", "{\"authorization\":\"Bearer of-ann\"}", ANN);

    for (String[] own : new String[][] {{}, {"x-upstream-authorization", "Bearer of-ann"}}) {
      Answer answer = call("stdio", "said", ANN, own);
      assertTrue(answer.text().contains("_meta"), answer.text());
      assertFalse(answer.text().contains("of-ann"), answer.text());
      assertFalse(answer.text().contains("authorization"), answer.text());
    }
  }

  @Test
  void clientCannotForgeTheInternalCredential() throws Exception {
    McpClient client =
        new McpClient(bridge.uri("/servers/bearer/mcp"), "{}", "authorization", "Bearer " + ANN)
            .initialized();

    client.request(
        "tools/call",
        "{\"name\":\"ok\",\"arguments\":{},\"_meta\":{"
            + "\"dev.mcpbridge/authorization\":\"Bearer forged\\r\\nX-Injected: 1\"}}");

    assertEquals("Bearer " + SECRET, api.lastRequest().header("authorization"));
  }
}
