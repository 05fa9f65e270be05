package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigReaderTest {

  @Test
  void publicUrlIsAnOriginInLowerCase() {
    assertEquals(
        "https://tools.example",
        read("{'auth':{'publicUrl':'https://Tools.Example:443/'}}").auth().publicUrl());
  }

  @Test
  void fileOfADesktopClientIsAccepted() {
    BridgeConfig config =
        read(
            "{'globalShortcut':'x','mcpServers':{'brave-search':{'command':'npx',"
                + "'args':['-y','p'],'env':{'K':'v'},'alwaysAllow':['a'],'disabled':false},"
                + "'off':{'command':'x','disabled':true}}}");

    assertEquals(
        List.of("npx", "-y", "p"),
        launch(config.servers().get(new ServerId("brave-search"))).argv());
    assertEquals(1, config.servers().size());
    assertEquals("127.0.0.1", config.http().host());
    assertEquals(3000, config.http().port());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'mcpServers':{'s':null}} | mcpServers.s.command
          {'mcpServers':{'s':5}} | mcpServers.s
          {'mcpServers':{'s':'x'}} | mcpServers.s
          {'mcpServers':{'s':[]}} | mcpServers.s
          {'mcpServers':{'s':{'command':'x','riskLevel':'2'}}} | mcpServers.s.riskLevel
          {'mcpServers':{'s':{'command':'x','risklevel':2}}} | mcpServers.s.risklevel
          {'mcpServers':{'s':{'command':'${env:NOT_THERE}'}}} | mcpServers.s.command
          {'mcpServers':{'s':{'command':'x'},'S':{'command':'x'}}} | mcpServers.S
          {'mcpServers':{'s':{'url':'ftp://x'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'url':'http://u:p@x/'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'url':'http://x','headers':{'a b':'c'}}}} | mcpServers.s.headers.a b
          {'mcpServers':{'s':{'url':'http://x','tls':{'ca':'/no/such.pem'}}}} | mcpServers.s.tls.ca
          {'mcpServers':{'s':{'command':'x','era':'future'}}} | mcpServers.s.era
          {'mcpServers':{'s':{'command':'x','cwd':'/\\u0000'}}} | mcpServers.s.cwd
          {'http':{'tls':{'cert':'/\\u0000'}}} | http.tls.cert
          {'sandbox':{'allowedMounts':['/\\u0000']}} | sandbox.allowedMounts
          {'servers':{'s':{'command':'x','riskLevel':4}}} | servers.s.riskLevel
          {'auth':{'keys':null}} | auth.keys
          {'auth':{'issuers':[{'name':'a','issuer':'https://a.example',\
          'introspection':{'clientId':'b','clientSecret':'c'}},\
          {'name':'b','issuer':'https://b.example',\
          'introspection':{'clientId':'b','clientSecret':'c'}}]}} | auth.issuers[1].introspection
          {'auth':{'issuers':[{'name':'a','issuer':'https://a.example'},\
          {'name':'b','issuer':'https://a.example'}]}} | auth.issuers[1].issuer
          {'mcpServers':{'s':{'type':'openapi','url':'http://x','auth':'x'}}} | mcpServers.s.auth
          {'mcpServers':{'s':{'type':'openapi','url':'http://x','largeResult':'17m'}}} \
            | mcpServers.s.largeResult
          {'mcpServers':{'s':{'type':'openapi','url':'http://x','auth':[{'type':'bearer','token':'t'}\
          ,{'type':'basic','user':'u'}]}}} \
            | mcpServers.s.auth[1].password
          {'mcpServers':{'s':{'type':'grpc','url':'http://x:1'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'type':'grpc','url':'grpc://x'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'type':'grpc','url':'grpc://x:1/path'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'url':'grpc://x:1'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'type':'grpc','command':'sh'}}} | mcpServers.s.type
          {'mcpServers':{'s':{'type':'grpc','url':'grpc://x:1','descriptorSet':'/none'}}} \
            | mcpServers.s.descriptorSet
          {'mcpServers':{'s':{'url':'https://x','tls':{'cert':'/none'}}}} | mcpServers.s.tls.cert
          """)
  void invalidConfigurationIsReportedWithItsPath(String json, String path) {
    ConfigException failure = assertThrows(ConfigException.class, () -> read(json));

    assertEquals(path, failure.problems().get(0).path());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "file:///etc/passwd",
        "file://h/etc/passwd",
        "ftp://h/",
        "gopher://h:70/_",
        "javascript:alert(1)",
        "data:text/plain,x",
        "jar:http://h/a.jar!/x",
        "http://u:p@h/",
        "http://u@h/",
        "http://h:0/",
        "http://h:70000/",
        "http://h:x/",
        "http://",
        "http:///x",
        "//h/x",
        "h/x",
        "http://h h/",
        "http://h\n/",
        "http://h/%zz"
      })
  void urlOfAServerIsHttpWithAHostAndWithoutAUser(String url) {
    String inEnvironment = "{'mcpServers':{'s':{'url':'${env:URL}'}}}";

    ConfigException failure =
        assertThrows(ConfigException.class, () -> read(inEnvironment, Map.of("URL", url)));

    assertEquals("mcpServers.s.url", failure.problems().get(0).path());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'mcpServer':{}} | mcpServer: unknown key, did you mean mcpServers?
          {'mcp_servers':{}} | mcp_servers: unknown key, did you mean mcpServers?
          {'http':{'prot':1}} | http.prot: unknown key, did you mean port?
          {'risk':{'aprover':'x'}} | risk.aprover: unknown key, did you mean approver?
          {'limits':{'bodybytes':1}} | limits.bodybytes: unknown key, did you mean bodyBytes?
          {'mcpServers':{'s':{'comand':'x'}}} \
            | mcpServers.s.comand: unknown key, did you mean command?
          {'mcpServers':{'s':{'url':'http://x','header':{}}}} \
            | mcpServers.s.header: unknown key, did you mean headers?
          {'mcpServers':{'s':{'command':'x','risk':{'tool':{}}}}} \
            | mcpServers.s.risk.tool: unknown key, did you mean tools?
          {'mcpServers':{'s':{'command':'x','docker':{'image':'i','volume':[]}}}} \
            | mcpServers.s.docker.volume: unknown key, did you mean volumes?
          {'mcpServers':{'s':{'command':'x','env':{'A':'${envv:X}'}}}} \
            | mcpServers.s.env.A: unknown placeholder ${envv:X}, did you mean ${env:X}?
          {'mcpServers':{'s':{'command':'x','env':{'A':'${input:key}'}}}} \
            | mcpServers.s.env.A: ${input:key} needs user input, which the bridge cannot request: \
          use ${env:NAME}
          {'mcpServers':{'s':{'command':'npx -y pkg'}}} \
            | mcpServers.s.command: no such program: "npx -y pkg"; put the program here and its \
          arguments into args
          """)
  void mistakesAreReportedWithAdvice(String json, String problem) {
    ConfigException failure = assertThrows(ConfigException.class, () -> read(json));

    assertEquals(problem, failure.problems().get(0).toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'mcpServers':{'s':{'command':'sh','callTimeout':-1}}} \
            | mcpServers.s.callTimeout: unknown key, ignored; did you mean timeout?
          {'mcpServers':{'s':{'command':'sh','alwaysAllow':[]}}} \
            | mcpServers.s.alwaysAllow: unknown key, ignored
          {'mcpServers':{'s':{'command':'no-such-program'}}} \
            | mcpServers.s.command: program "no-such-program" not found on the PATH
          {'mcpServers':{'s':{'command':'/no/such'}}} \
            | mcpServers.s.command: program "/no/such" not found
          {'mcpServers':{'s':{'command':'sh','risk':{'tools':{'a':3}}}}} \
            | mcpServers.s.docker: not set, so calls at risk level 3 are refused: set docker.image
          {'risk':{'default':3},'mcpServers':{'s':{'url':'http://x'}}} \
            | mcpServers.s.docker: calls at risk level 3 are refused: a remote server has no \
          container
          """)
  void settingsWithoutEffectAreWarnings(String json, String warning) {
    assertEquals(warning, read(json).warnings().get(0).toString());
  }

  @Test
  void keysOfOtherClientsAreOnlyWarnings() {
    for (String key : List.of("oauth", "enabled", "trust", "dev", "envFile", "autoApprove")) {
      assertEquals(
          1, read("{'mcpServers':{'s':{'command':'sh','" + key + "':{}}}}").warnings().size(), key);
    }
  }

  @Test
  void onlyTheFirstOfManyUnknownKeysAreNamed() {
    ObjectNode body = Json.object().put("id", "s").put("command", "sh");
    for (int i = 0; i < 5_000; i++) {
      body.put("unknown" + i, 1);
    }

    ConfigException failure =
        assertThrows(ConfigException.class, () -> ConfigReader.readServer(body, read("{}")));

    assertEquals(21, failure.problems().size());
    assertEquals("4980 more unknown keys", failure.problems().get(20).toString());
  }

  @Test
  void ofVeryManyProblemsTheFirstAreReportedOnce() {
    ObjectNode body = Json.object().put("id", "s").put("command", "sh").put("instances", 0);
    ObjectNode variables = body.putObject("env");
    for (int i = 0; i < 100_000; i++) {
      variables.put("v" + i, i);
    }

    ConfigException failure =
        assertThrows(ConfigException.class, () -> ConfigReader.readServer(body, read("{}")));

    assertEquals(101, failure.problems().size());
    assertEquals("99901 more problems", failure.problems().get(100).toString());
  }

  /** Over the API placeholders are not resolved, so they do not exempt a value from its pattern. */
  @ParameterizedTest
  @ValueSource(strings = {"root${env:X}", "1000\n"})
  void textIsCheckedOverTheApiToItsEnd(String user) {
    ObjectNode body = Json.object().put("id", "s").put("command", "sh");
    body.putObject("docker").put("image", "i").put("user", user);

    ConfigException failure =
        assertThrows(ConfigException.class, () -> ConfigReader.readServer(body, read("{}")));

    assertEquals("docker.user", failure.problems().get(0).path());
  }

  @Test
  void serversOfVsCodeAreAccepted() {
    BridgeConfig config = read("{'servers':{'s':{'type':'stdio','command':'sh'}}}");

    assertEquals(List.of("sh"), launch(config.servers().get(new ServerId("s"))).argv());
  }

  @Test
  void invalidJsonIsReportedWithItsLine() {
    ConfigException failure = assertThrows(ConfigException.class, () -> read("{'http':\n  {,}}"));

    assertTrue(failure.getMessage().contains("line 2"), failure.getMessage());
  }

  @Test
  void invalidServerDoesNotPreventTheStartOfOthers() {
    BridgeConfig config =
        new ConfigReader(Map.of())
            .read(
                "{\"mcpServers\":{\"bad\":{\"command\":\"x\",\"riskLevel\":9},\"none\":null,"
                    + "\"good\":{\"command\":\"y\"}}}",
                ConfigReader.Strictness.PER_SERVER);

    assertNotNull(config.servers().get(new ServerId("bad")).refusal());
    assertNotNull(config.servers().get(new ServerId("none")).refusal());
    assertEquals(null, config.servers().get(new ServerId("good")).refusal());
  }

  @Test
  void serverAtLevelThreeRunsInAContainer() {
    BridgeConfig config =
        read("{'mcpServers':{'s':{'command':'x','riskLevel':3,'docker':{'image':'i'}}}}");

    assertTrue(config.servers().get(new ServerId("s")).upstreamTarget() instanceof ContainerTarget);
  }

  @Test
  void overridingACommandKeepsTheRisk() {
    BridgeConfig config =
        read(
            "{'mcpServers':{'my-disk':{'command':'old','args':['1'],'riskLevel':2,"
                + "'risk':{'tools':{'rm':2}}}}}",
            Map.of(
                "MCP_SERVER_MY_DISK_COMMAND", "new",
                "MCP_SERVER_MY_DISK_ARGS", "a,b",
                "MCP_SERVER_MY_DISK_ENV", " ",
                "MCP_SERVER_EXTRA_COMMAND", "e",
                "MCP_SERVER_EXTRA_ENV", "{\"X\":\"1\"}",
                "PORT", "4000"));

    ServerConfig disk = config.servers().get(new ServerId("my-disk"));
    assertEquals(List.of("new", "a", "b"), launch(disk).argv());
    assertEquals(RiskLevel.MEDIUM, disk.risk().server());
    assertEquals(RiskLevel.MEDIUM, disk.risk().specificLevel(Target.tool("rm")).orElseThrow());
    assertEquals(
        "1", launch(config.servers().get(new ServerId("extra"))).environment().get("X").reveal());
    assertEquals(4000, config.http().port());
  }

  @Test
  void credentialsOfAnApiAreOneOrAList() {
    String bearer = "{'type':'bearer','token':'t'}";
    String key = "{'type':'apiKey','name':'k','value':'v','in':'query'}";
    ApiCredential first = new ApiCredential.Bearer(new Secret("t"));
    ApiCredential second = new ApiCredential.Key("query", "k", new Secret("v"));

    assertEquals(List.of(first), credentials(bearer));
    assertEquals(List.of(first, second), credentials("[" + bearer + "," + key + "]"));
  }

  private static List<ApiCredential> credentials(String auth) {
    BridgeConfig config =
        read("{'mcpServers':{'s':{'type':'openapi','url':'http://x','auth':" + auth + "}}}");
    OpenApiSource source = (OpenApiSource) config.servers().get(new ServerId("s")).upstreamTarget();
    return source.credentials();
  }

  @Test
  void placeholdersAreResolvedAndSecretsNotPrinted() {
    BridgeConfig config =
        read(
            "{'mcpServers':{'s':{'command':'x','env':{'TOKEN':'Bearer ${env:SECRET}'}}}}",
            Map.of("SECRET", "CANARY"));

    ProcessTarget processTarget = launch(config.servers().get(new ServerId("s")));
    assertEquals("Bearer CANARY", processTarget.environment().get("TOKEN").reveal());
    assertFalse(config.toString().contains("CANARY"));
  }

  @Test
  void fingerprintChangesWithASecret() {
    String entry = "{'mcpServers':{'s':{'command':'x','env':{'T':'${env:T}'}}}}";

    assertEquals(
        fingerprint(read(entry, Map.of("T", "1"))), fingerprint(read(entry, Map.of("T", "1"))));
    assertNotEquals(
        fingerprint(read(entry, Map.of("T", "1"))), fingerprint(read(entry, Map.of("T", "2"))));
  }

  private static String fingerprint(BridgeConfig config) {
    return config.servers().get(new ServerId("s")).fingerprint();
  }

  /** A value belongs to its placeholder: that of another key cannot stand for it. */
  @Test
  void programIsDistinguishedByThePlaceholderOfEachValue() {
    String program = "'command':'sh','args':['${env:A}']";
    BridgeConfig shown =
        read(
            "{'mcpServers':{'s':{" + program + ",'placement':['${env:P}']}}}",
            Map.of("A", "lazy", "P", "other"));
    BridgeConfig changed =
        read(
            "{'mcpServers':{'s':{'start':'${env:S}'," + program + "}}}",
            Map.of("S", "lazy", "A", "other"));

    assertNotEquals(digest(shown), digest(changed));
  }

  private static String digest(BridgeConfig config) {
    return config.servers().get(new ServerId("s")).programDigest();
  }

  private static BridgeConfig read(String singleQuoted) {
    return read(singleQuoted, Map.of());
  }

  private static BridgeConfig read(String singleQuoted, Map<String, String> environment) {
    return new ConfigReader(environment)
        .read(singleQuoted.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  private static ProcessTarget launch(ServerConfig server) {
    return (ProcessTarget) server.upstreamTarget();
  }
}
