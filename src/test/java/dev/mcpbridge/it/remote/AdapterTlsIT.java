package dev.mcpbridge.it.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** APIs and function executors over HTTPS, with valid and invalid certificates. */
@Tag("remote")
class AdapterTlsIT {
  private static final String FUNCTIONS = "'tools':[{'name':'run'}]";
  private static final Map<String, EchoApi> HOSTS = new LinkedHashMap<>();

  @TempDir static Path folder;
  private static Authority authority;
  private static Authority otherAuthority;
  private static EchoApi plain;
  private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    authority = Authority.create(folder.resolve("authority"));
    otherAuthority = Authority.create(folder.resolve("stranger"));
    plain = running(EchoApi.start());
    HOSTS.put("good", EchoApi.withTls(authority.server("ip:127.0.0.1")));
    HOSTS.put("misnamed", EchoApi.withTls(authority.server("dns:api.example,ip:127.0.0.9")));
    HOSTS.put(
        "expired",
        EchoApi.withTls(authority.server("ip:127.0.0.1", "-startdate", "-3d", "-validity", "1")));
    HOSTS.put("early", EchoApi.withTls(authority.server("ip:127.0.0.1", "-startdate", "+3d")));
    HOSTS.values().forEach(AdapterTlsIT::running);
    StringBuilder servers = new StringBuilder();
    for (String host : HOSTS.keySet()) {
      servers.append(entries(host, host, authority.certificateFile()));
    }
    servers.append(entries("untrusted", "good", null));
    servers.append(entries("foreign", "good", otherAuthority.certificateFile()));
    bridge = TestBridge.of("{'mcpServers':{" + servers.substring(0, servers.length() - 1) + "}}");
  }

  @AfterAll
  static void stop() throws Exception {
    bridge.close();
    plain.close();
    for (EchoApi each : HOSTS.values()) {
      each.close();
    }
  }

  private static EchoApi running(EchoApi api) {
    return api.on("/openapi.json", ApiDocument.create().with("get", "/ok", "ok", "").asScript())
        .on("/ok", 200, "text/plain", "granted")
        .on("/token", 200, "application/json", "{\"access_token\":\"t1\"}")
        .on("/tools", 200, "application/json", TestBridge.json("[{'name':'run'}]"))
        .on("/run", AdapterTlsIT::execute);
  }

  private static boolean execute(EchoApi.Request request, EchoApi.Peer peer)
      throws java.io.IOException {
    String id = Json.mapper().readTree(request.body()).at("/tool_calls/0/id").asText();
    String response = "{'tool_responses':[{'tool_call_id':'" + id + "','output':'done'}]}";
    return peer.write(
        200, "application/json", TestBridge.json(response).getBytes(StandardCharsets.UTF_8));
  }

  /** All uses of a certificate: document, API, token, function definitions and executor. */
  private static String entries(String name, String host, Path ca) {
    EchoApi api = HOSTS.get(host);
    String tls = ca == null ? "" : ",'tls':{'ca':'" + ca + "'}";
    String document = "'type':'openapi','document':" + document(api);
    String token = ",'auth':{'type':'oauth2','tokenUrl':'" + api.url("/token") + "',";
    return entry(name + "-document", "'type':'openapi','url':'" + api.url("/openapi.json'") + tls)
        + entry(name + "-api", document + tls)
        + entry(
            name + "-token",
            "'type':'openapi','url':'%s%s'clientId':'me','clientSecret':'s'}%s"
                .formatted(plain.url("/openapi.json'"), token, tls))
        + entry(
            name + "-functions",
            "'type':'toolcall','url':'%s','toolsUrl':'%s%s"
                .formatted(plain.url("/run"), api.url("/tools'"), tls))
        + entry(
            name + "-executor",
            "'type':'toolcall','url':'" + api.url("/run") + "'," + FUNCTIONS + tls);
  }

  private static String document(EchoApi api) {
    return ApiDocument.create()
        .with("get", "/ok", "ok", "")
        .set("servers", "[{'url':'" + api.url("") + "'}]")
        .text();
  }

  private static String entry(String name, String members) {
    return "'" + name + "':{" + members + "},";
  }

  private static Answer call(String server) throws Exception {
    String tool = server.matches(".*-(functions|executor)") ? "run" : "ok";
    return bridge.post("/servers/" + server + "/tools/" + tool, "{}");
  }

  private static void assertReports(String fault, String message) {
    assertTrue(message.contains("https://127.0.0.1:"), message);
    assertTrue(message.contains(MESSAGES.get(fault)), message);
  }

  private static final Map<String, String> MESSAGES =
      Map.of(
          "untrusted", "its certificate is not trusted: unable to find valid certification path",
          "foreign", "its certificate is not trusted: ",
          "misnamed", "its certificate is not trusted: No subject alternative names matching",
          "expired", "its certificate has expired",
          "early", "its certificate is not valid yet");

  @ParameterizedTest
  @CsvSource({
    "document,granted",
    "api,granted",
    "token,granted",
    "functions,done",
    "executor,done"
  })
  void trustedServerIsReached(String use, String expected) throws Exception {
    String server = "good-" + use;
    bridge.until(() -> bridge.state(server).equals("ready"));

    Answer answer = call(server);

    assertEquals(expected, answer.firstText(), answer.text());
  }

  static List<String> faultsAtTheStart() {
    return MESSAGES.keySet().stream()
        .flatMap(
            fault ->
                List.of("document", "functions", "executor").stream().map(use -> fault + "-" + use))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("faultsAtTheStart")
  void untrustedServerIsReportedInTheState(String server) throws Exception {
    Answer[] state = new Answer[1];
    bridge.until(
        () -> {
          state[0] = bridge.get("/servers/" + server);
          return state[0].at("/state").equals("failed");
        });

    Answer response = call(server);

    assertReports(server.split("-")[0], state[0].at("/last_error"));
    assertTrue(response.status() == 502 || response.status() == 503, response.text());
    assertEquals("no", response.at("/executed"), response.text());
  }

  static List<String> faultsOfCalls() {
    return MESSAGES.keySet().stream()
        .flatMap(fault -> List.of("api", "token").stream().map(use -> fault + "-" + use))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("faultsOfCalls")
  void callToAnUntrustedServerIsNotSent(String server) throws Exception {
    bridge.until(() -> bridge.state(server).equals("ready"));

    Answer response = call(server);

    assertReports(server.split("-")[0], response.at("/detail"));
    assertEquals(502, response.status(), response.text());
    assertEquals("no", response.at("/executed"), response.text());
  }

  @Test
  void untrustedServerReceivesNoRequest() throws Exception {
    for (String fault : List.of("misnamed", "expired", "early")) {
      for (String use : List.of("document", "functions", "executor")) {
        bridge.until(() -> bridge.state(fault + "-" + use).equals("failed"));
      }
      call(fault + "-api");
      call(fault + "-token");

      assertEquals(List.of(), HOSTS.get(fault).requests());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"missing", "folder", "empty", "words", "key", "half", "odd\\u0000name"})
  void invalidCaFileIsReportedWithItsKey(String file) throws Exception {
    Files.createDirectories(folder.resolve("folder"));
    Files.writeString(folder.resolve("empty"), "");
    Files.writeString(folder.resolve("words"), "trust me");
    Files.writeString(
        folder.resolve("key"), "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    String whole = Files.readString(authority.certificateFile());
    Files.writeString(folder.resolve("half"), whole.substring(0, whole.length() / 2));
    String tls = "'tls':{'ca':'" + folder + "/" + file + "'}}";

    for (String type :
        List.of(
            "'url':'https://x.example/mcp',",
            "'type':'openapi','url':'https://x.example/openapi.json',",
            "'type':'toolcall','url':'https://x.example/run'," + FUNCTIONS + ",")) {
      String config = "{'mcpServers':{'s':{" + type + tls + "}}";
      ConfigException failure = assertThrows(ConfigException.class, () -> refuse(config));
      assertEquals("mcpServers.s.tls.ca", failure.problems().get(0).path(), failure.getMessage());
      assertEquals(1, failure.problems().size(), failure.getMessage());
    }
  }

  private static void refuse(String config) {
    new ConfigReader(Map.of())
        .read(TestBridge.json(config), ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  @Test
  void allAuthoritiesOfAFileAreTrusted() throws Exception {
    Path bundle =
        Files.writeString(
            folder.resolve("both.pem"),
            "# ours\n"
                + Files.readString(otherAuthority.certificateFile())
                + Files.readString(authority.certificateFile()));
    try (TestBridge own =
        TestBridge.of(
                "{'mcpServers':{'s':{'type':'openapi','url':'%s','tls':{'ca':'%s'}}}}"
                    .formatted(HOSTS.get("good").url("/openapi.json"), bundle))
            .awaitReady("s")) {

      assertEquals("granted", own.call("ok", "{}").firstText());
      assertFalse(own.get("/servers/s").body().path("last_error").isTextual());
    }
  }
}
