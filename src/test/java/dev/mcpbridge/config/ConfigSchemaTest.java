package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.mcpbridge.protocol.Json;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that the schema for editors and the reader of the bridge agree. */
class ConfigSchemaTest {
  private static final Path FILE = Path.of("conf/bridge.schema.json");
  private static final Map<String, String> ENVIRONMENT =
      Map.of("PATH", "/usr/bin:/bin", "PWD", Path.of("").toAbsolutePath().toString());

  private static JsonNode json;
  private static Schema schema;

  @BeforeAll
  static void read() throws Exception {
    json = Json.mapper().readTree(Files.readString(FILE));
    schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(json);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "levels", "adapters", "cluster"})
  void bundledFilesAreValid(String name) throws Exception {
    assertEquals(List.of(), problems(Files.readString(Path.of("conf", name + ".json"))));
  }

  @Test
  void filesOfTheTourAreValid() throws Exception {
    List<String> files = new ArrayList<>();
    Matcher block =
        Pattern.compile("```json\\n([^`]*\"mcpServers\"[^`]*)```")
            .matcher(Files.readString(Path.of("src/docs/tour.md")));
    while (block.find()) {
      files.add(block.group(1));
    }

    assertEquals(2, files.size());
    for (String file : files) {
      assertEquals(List.of(), problemsExceptMissingPrograms(file));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'servers':{'s':{'type':'stdio','command':'sh'},'t':{'type':'http','url':'http://x'}}}",
        "{'http':{'tls':{}}}",
        "{'mcpServers':{'s':{'disabled':true}}}",
        "{'mcpServers':{'s':{'url':'${env:PWD}','headers':{'A':'x'}}}}",
        "{'mcpServers':{'s':{'command':'sh','args':['-c','echo ${HOME} ${X:-y} ${PORT:80}']}}}",
        "{'mcpServers':{'s':{'command':'sh','docker':{'image':'i','memory':'0.5g','tmpfs':4096}}}}",
        "{'mcpServers':{'s':{'type':'openapi','url':'http://x','auth':{'type':'bearer',"
            + "'token':'t'}}}}",
        "{'mcpServers':{'s':{'type':'toolcall','url':'http://x','tools':[]}}}"
      })
  void validConfigurationIsAcceptedByBoth(String singleQuoted) throws Exception {
    String text = singleQuoted.replace('\'', '"');
    JsonNode read = Json.mapper().readTree(text.replace("${env:PWD}", "https://x"));

    assertEquals(List.of(), schema.validate(read));
    new ConfigReader(Map.of("PWD", "https://x")).read(text, ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'http':{'port':70000}} | http.port
          {'http':{'prot':1}} | http.prot
          {'http':{'maxConnections':0}} | http.maxConnections
          {'http':{'host':'0.0.0.0'}} | http.host
          {'http':{'cors':{'origins':['*']}}} | http.cors.origins
          {'http':{'tls':{'cert':'pom.xml'}}} | http.tls.cert
          {'http':{'allowStart':'no'}} | http.allowStart
          {'http':{'allowedCommands':'npx'}} | http.allowedCommands
          {'auth':{'keys':[{'name':'a','sha256':'x','scopes':['read']}]}} | auth.keys[0].sha256
          {'risk':{'default':4}} | risk.default
          {'risk':{'approver':'me'}} | risk.approver
          {'risk':{'approver':'operator'}} | risk.approver
          {'risk':{'pendingStatus':201}} | risk.pendingStatus
          {'limits':{'depth':0}} | limits.depth
          {'drain':-1} | drain
          {'mcpServer':{}} | mcpServer
          {'mcp_servers':{}} | mcp_servers
          {'servers':{},'mcpServers':{}} | servers
          {'servers':{'s':{}}} | servers.s.command
          {'mcpServers':{'s':{}}} | mcpServers.s.command
          {'mcpServers':{'a b':{'command':'x'}}} | mcpServers.a b
          {'mcpServers':{'s':{'comand':'x'}}} | mcpServers.s.comand
          {'mcpServers':{'s':{'url':'http://x','header':{}}}} | mcpServers.s.header
          {'mcpServers':{'s':{'command':'x','url':'http://x'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'command':'x','builtin':'git'}}} | mcpServers.s.command
          {'mcpServers':{'s':{'command':'x','timeout':-1}}} | mcpServers.s.timeout
          {'mcpServers':{'s':{'command':'x','args':'y'}}} | mcpServers.s.args
          {'mcpServers':{'s':{'command':'x','riskLevel':3}}} | mcpServers.s.docker.image
          {'mcpServers':{'s':{'command':'x','riskLevel':4}}} | mcpServers.s.riskLevel
          {'mcpServers':{'s':{'url':'http://x','type':'websocket'}}} | mcpServers.s.type
          {'mcpServers':{'s':{'url':'http://x','docker':{'image':'i'}}}} | mcpServers.s.docker
          {'mcpServers':{'s':{'type':'openapi'}}} | mcpServers.s.url
          {'mcpServers':{'s':{'type':'openapi','file':'pom.xml','command':'x'}}} | mcpServers.s.type
          {'mcpServers':{'s':{'type':'openapi','url':'http://x','auth':{'type':'basic'}}}} \
            | mcpServers.s.auth.user
          {'mcpServers':{'s':{'type':'toolcall','url':'http://x'}}} | mcpServers.s.tools
          {'mcpServers':{'s':{'command':'x','risk':{'tools':{'a':9}}}}} | mcpServers.s.risk.tools.a
          {'mcpServers':{'s':{'command':'x','risk':{'tool':{'a':2}}}}} | mcpServers.s.risk.tool
          {'mcpServers':{'s':{'command':'x','env':{'A':1}}}} | mcpServers.s.env.A
          {'mcpServers':{'s':{'command':'x','instances':0}}} | mcpServers.s.instances
          {'mcpServers':{'s':{'command':'x','instances':2,'isolation':'session'}}} \
            | mcpServers.s.instances
          {'mcpServers':{'s':{'command':'x','start':'maybe'}}} | mcpServers.s.start
          {'mcpServers':{'s':{'command':'x','tools':{'a':{'timeout':0}}}}} \
            | mcpServers.s.tools.a.timeout
          {'mcpServers':{'s':{'command':'x','logLevel':'loud'}}} | mcpServers.s.logLevel
          {'mcpServers':{'s':{'command':'x','isolation':'yes'}}} | mcpServers.s.isolation
          {'mcpServers':{'s':{'command':'x','maxSessions':0}}} | mcpServers.s.maxSessions
          {'mcpServers':{'s':{'command':'x','roots':'all'}}} | mcpServers.s.roots
          {'mcpServers':{'s':{'command':'x','docker':{}}}} | mcpServers.s.docker.image
          {'mcpServers':{'s':{'command':'x','docker':{'image':'i','privileged':true}}}} \
            | mcpServers.s.docker.privileged
          {'mcpServers':{'s':{'command':'x','docker':{'image':'i','network':'host'}}}} \
            | mcpServers.s.docker.network
          {'mcpServers':{'s':{'command':'x','docker':{'image':'i','memory':'much'}}}} \
            | mcpServers.s.docker.memory
          {'mcpServers':{'s':{'command':'x','docker':{'image':'i','user':'0'}}}} \
            | mcpServers.s.docker.user
          {'mcpServers':{'s':{'command':'x','docker':{'image':'i','volumes':['x:/y']}}}} \
            | mcpServers.s.docker.volumes[0]
          {'sandbox':{'engine':'ssh://x'}} | sandbox.engine
          {'auth':{'publicUrl':'http://tools.example'}} | auth.publicUrl
          {'auth':{'publicUrl':'https://tools.example/x'}} | auth.publicUrl
          {'auth':{'issuers':[{'name':'i','issuer':'http://i.example'}]}} | auth.issuers[0].issuer
          {'auth':{'issuers':[{'name':'i j','issuer':'https://i'}]}} | auth.issuers[0].name
          {'auth':{'issuers':[{'name':'i','issuer':'https://i','algorithms':['none']}]}} \
            | auth.issuers[0].algorithms[0]
          {'auth':{'issuers':[{'name':'i','issuer':'https://i','algorithms':['HS256']}]}} \
            | auth.issuers[0].algorithms[0]
          {'auth':{'issuers':[{'issuer':'https://i'}]}} | auth.issuers[0].name
          {'sandbox':{'limits':{'cpus':0}}} | sandbox.limits.cpus
          {'access':{'mode':'off'}} | access.mode
          {'credentials':{'keys':[{'id':'a b','key':'x'}]}} | credentials.keys[0].id
          {'credentials':{'idle':1}} | credentials.idle
          {'mcpServers':{'s':{'url':'http://x','oauth':{'as':'me'}}}} | mcpServers.s.oauth.as
          {'mcpServers':{'s':{'url':'http://x','oauth':{'issuers':['http://id.example']}}}} \
            | mcpServers.s.oauth.issuers[0]
          {'mcpServers':{'s':{'url':'http://x','oauth':{'scopes':['a b']}}}} \
            | mcpServers.s.oauth.scopes[0]
          {'mcpServers':{'s':{'url':'http://x','oauth':{'clientMetadataUrl':'http://x/y'}}}} \
            | mcpServers.s.oauth.clientMetadataUrl
          {'mcpServers':{'s':{'url':'http://x','oauth':{'client':'x'}}}} | mcpServers.s.oauth.client
          {'mcpServers':{'s':{'url':'http://x','oauth':{'identityProvider':\
            {'tokenUrl':'https://id.example/token','clientId':'x'}}}}} \
            | mcpServers.s.oauth.identityProvider.clientSecret
          {'mcpServers':{'s':{'url':'http://x','oauth':{'identityProvider':\
            {'tokenUrl':'http://id.example/token','clientId':'x','clientSecret':'y'}}}}} \
            | mcpServers.s.oauth.identityProvider.tokenUrl
          {'quotas':[{'name':'a'}]} | quotas[0]
          {'quotas':[{'name':'a','rate':1,'quota':1}]} | quotas[0]
          {'quotas':[{'name':'a','rate':0}]} | quotas[0].rate
          {'access':{'rule':[]}} | access.rule
          {'access':{'rules':[{'name':'a'}]}} | access.rules[0]
          {'access':{'rules':[{'name':'a','allow':['run']}]}} | access.rules[0].allow[0]
          {'access':{'rules':[{'name':'a','allow':['call'],'arguments':{'p':{'min':1}}}]}} \
            | access.rules[0].arguments.p
          {'access':{'rules':[{'name':'a','allow':['call'],'arguments':{'/p':{'max':'1'}}}]}} \
            | access.rules[0].arguments./p.max
          """)
  void invalidConfigurationIsRefusedByBoth(String singleQuoted, String path) throws Exception {
    String text = singleQuoted.replace('\'', '"');

    assertFalse(schema.validate(Json.mapper().readTree(text)).isEmpty(), text);
    ConfigException refusal = assertThrows(ConfigException.class, () -> config(text));
    assertEquals(path, refusal.problems().get(0).path());
  }

  /** The reader refuses or warns of what an editor underlines. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'globalShortcut':'x'}",
        "{'mcpServers':{'s':{'command':'sh','alwaysAllow':['x']}}}",
        "{'mcpServers':{'s':{'command':'sh','callTimeout':-1}}}"
      })
  void unknownKeyIsReportedByBoth(String singleQuoted) throws Exception {
    String text = singleQuoted.replace('\'', '"');

    assertFalse(schema.validate(Json.mapper().readTree(text)).isEmpty(), text);
    assertEquals(1, warnings(text).size(), text);
  }

  /** The error for an unknown key lists the known ones, so that the two can be compared. */
  @Test
  void bothHaveTheSameKeys() {
    Map<String, Set<String>> ofSchema = keys();
    Map<String, Set<String>> ofReader = new TreeMap<>();
    ofSchema.keySet().removeAll(List.of("", "mcpServers.s"));
    ofSchema.keySet().forEach(path -> ofReader.put(path, keysOfReader(path)));

    assertEquals(ofReader, ofSchema);
  }

  @Test
  void everyKeyIsReadByTheCode() throws Exception {
    StringBuilder code = new StringBuilder();
    try (var files = Files.list(Path.of("src/main/java/dev/mcpbridge/config"))) {
      for (Path file : files.toList()) {
        code.append(Files.readString(file));
      }
    }
    Set<String> unread = new TreeSet<>();
    keys().values().forEach(unread::addAll);
    unread.remove("$schema"); // read by editors
    unread.removeIf(key -> code.indexOf('"' + key + '"') >= 0);

    assertEquals(Set.of(), unread);
  }

  @Test
  void everyKeyHasADescriptionAndAType() {
    List<String> incomplete = new ArrayList<>();
    schemas()
        .forEach(
            (path, key) -> {
              if (!key.has("type") || key.path("description").asText().isBlank()) {
                incomplete.add(path);
              }
            });

    assertEquals(List.of(), incomplete);
  }

  @Test
  void bothHaveTheSameBounds() {
    List<String> different = new ArrayList<>();
    schemas()
        .forEach(
            (path, key) -> {
              if (isBounded(key) && !hasItsBounds(path, key)) {
                different.add(path);
              }
            });

    assertEquals(List.of(), different);
  }

  @Test
  void bothHaveTheSameDefaults() {
    ObjectNode written = Json.object();
    json.path("properties")
        .properties()
        .forEach(
            section -> {
              JsonNode defaults = defaults(section.getValue());
              if (!defaults.isEmpty() || defaults.isValueNode()) {
                written.set(section.getKey(), defaults);
              }
            });
    BridgeConfig explicit = config(written.toString());
    BridgeConfig implicit = config("{}");

    assertEquals(implicit.http(), explicit.http());
    assertEquals(implicit.risk(), explicit.risk());
    assertEquals(implicit.limits(), explicit.limits());
    assertEquals(implicit.sandbox(), explicit.sandbox());
    assertEquals(implicit.drainMillis(), explicit.drainMillis());
  }

  @Test
  void bothHaveTheSameDefaultsOfEntries() {
    ObjectNode docker = Json.object().put("image", "i");
    JsonNode entry = json.at("/$defs/entry");
    docker.setAll((ObjectNode) defaults(entry.at("/properties/docker")));
    ObjectNode local = Json.object().put("command", "sh");
    local.setAll((ObjectNode) defaults(entry));
    local.set("docker", docker);
    ObjectNode api = Json.object().put("type", "openapi").put("url", "http://x");
    api.setAll((ObjectNode) defaults(entry));
    api.remove("docker");

    assertSame("{'command':'sh','docker':{'image':'i'}}", local);
    assertSame("{'type':'openapi','url':'http://x','oauth':{}}", api);
  }

  private static void assertSame(String implicitEntry, ObjectNode explicitEntry) {
    ServerConfig implicit = server(implicitEntry.replace('\'', '"'));
    ServerConfig explicit = server(explicitEntry.toString());
    assertEquals(implicit.upstreamTarget(), explicit.upstreamTarget());
    assertEquals(implicit.sandboxPool(), explicit.sandboxPool());
    assertEquals(implicit.risk(), explicit.risk());
    assertEquals(implicit.timeouts(), explicit.timeouts());
    assertEquals(implicit.supervision(), explicit.supervision());
    assertEquals(implicit.sessionSettings(), explicit.sessionSettings());
    assertEquals(implicit.isolation(), explicit.isolation());
  }

  private static ServerConfig server(String entry) {
    return config("{\"mcpServers\":{\"s\":" + entry + "}}").servers().values().iterator().next();
  }

  /** The defaults of a key, with those of the keys below it. */
  private static JsonNode defaults(JsonNode schema) {
    if (!schema.has("properties")) {
      return schema.path("default");
    }
    ObjectNode defaults = Json.object();
    schema
        .get("properties")
        .properties()
        .forEach(
            property -> {
              JsonNode value = defaults(property.getValue());
              if (value.isObject() ? !value.isEmpty() : !value.isMissingNode()) {
                defaults.set(property.getKey(), value);
              }
            });
    return defaults;
  }

  private static boolean isBounded(JsonNode key) {
    return key.path("type").isTextual() && key.has("minimum") && key.has("maximum");
  }

  private static boolean hasItsBounds(String path, JsonNode key) {
    double min = key.path("minimum").asDouble();
    double max = key.path("maximum").asDouble();
    double step = key.path("type").asText().equals("integer") ? 1 : 0.01;
    return accepts(path, key, min)
        && accepts(path, key, max)
        && !accepts(path, key, min - step)
        && !accepts(path, key, max + step);
  }

  private static boolean accepts(String path, JsonNode schema, double number) {
    boolean isWhole = schema.path("type").asText().equals("integer");
    ObjectNode file =
        with(
            path,
            isWhole
                ? Json.mapper().getNodeFactory().numberNode((long) number)
                : Json.mapper().getNodeFactory().numberNode(number));
    if (path.endsWith("pool.min")) {
      ((ObjectNode) file.at("/mcpServers/s/docker/pool")).put("max", 1000);
    }
    if (path.endsWith("pool.max")) {
      ((ObjectNode) file.at("/mcpServers/s/docker/pool")).put("min", 0);
    }
    return !isRefused(file.toString());
  }

  /** The keys of each object by its path. */
  private static Map<String, Set<String>> keys() {
    Map<String, Set<String>> keys = new TreeMap<>();
    schemas()
        .forEach(
            (path, schema) -> {
              if (schema.has("properties")) {
                Set<String> own = keys.computeIfAbsent(path, p -> new TreeSet<>());
                schema.get("properties").fieldNames().forEachRemaining(own::add);
              }
            });
    return keys;
  }

  /** All schemas by path: properties, entries by name, elements of lists. */
  private static Map<String, JsonNode> schemas() {
    Map<String, JsonNode> all = new LinkedHashMap<>();
    collect("", json, all);
    return all;
  }

  private static void collect(String path, JsonNode schema, Map<String, JsonNode> all) {
    all.put(path, schema);
    for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
      if (!property.getKey().equals("servers") || !path.isEmpty()) {
        String child = path.isEmpty() ? property.getKey() : path + "." + property.getKey();
        collect(child, resolved(property.getValue()), all);
      }
    }
    if (resolved(schema.path("additionalProperties")).has("properties")) {
      String name = schema.at("/propertyNames/pattern").asText().equals("^/") ? "/s" : "s";
      collect(path + "." + name, resolved(schema.path("additionalProperties")), all);
    }
    if (resolved(schema.path("items")).has("properties")) {
      collect(path + "[0]", resolved(schema.path("items")), all);
    }
  }

  private static JsonNode resolved(JsonNode node) {
    return node.has("$ref") ? json.at(node.get("$ref").asText().substring(1)) : node;
  }

  private static Set<String> keysOfReader(String path) {
    try {
      new ConfigReader(ENVIRONMENT)
          .read(
              with(path + ".zzzzzzzz", Json.mapper().getNodeFactory().nullNode()).toString(),
              ConfigReader.Strictness.ALL_OR_NOTHING);
      throw new AssertionError("an unknown key is accepted in " + path);
    } catch (ConfigException e) {
      String marker = "expected one of ";
      return e.problems().stream()
          .filter(problem -> problem.path().equals(path + ".zzzzzzzz"))
          .map(ConfigProblem::message)
          .map(what -> what.substring(what.indexOf(marker) + marker.length()))
          .findFirst()
          .map(listed -> (Set<String>) new TreeSet<>(List.of(listed.split(", "))))
          .orElseThrow(() -> new AssertionError(path + ": " + e.getMessage()));
    }
  }

  /** A configuration with one value and the keys that it requires. */
  private static ObjectNode with(String path, JsonNode value) {
    ObjectNode root = Json.object();
    JsonNode at = root;
    String[] names = path.replace("[0]", ".[]").split("\\.");
    for (int i = 0; i < names.length; i++) {
      boolean isLast = i == names.length - 1;
      boolean isList = !isLast && names[i + 1].equals("[]");
      JsonNode child = isLast ? value : isList ? Json.mapper().createArrayNode() : Json.object();
      if (at instanceof ArrayNode list) {
        list.add(child);
      } else {
        ((ObjectNode) at).set(names[i], child);
      }
      at = child;
    }
    if (root.at("/auth/issuers/0") instanceof ObjectNode issuer) {
      issuer.put("name", "i").put("issuer", "https://i");
    }
    if (root.at("/access/rules/0") instanceof ObjectNode rule) {
      rule.put("name", "r").putArray(rule.has("annotations") ? "deny" : "allow").add("call");
    }
    if (root.at("/quotas/0") instanceof ObjectNode quota) {
      quota.put("name", "q");
      if (Stream.of("rate", "quota", "concurrent", "repeats").noneMatch(quota::has)) {
        quota.put(quota.has("period") ? "quota" : "rate", 1);
      }
    }
    if (root.at("/mcpServers/s") instanceof ObjectNode entry) {
      entry.put("command", "sh");
      if (entry.get("docker") instanceof ObjectNode docker) {
        docker.put("image", "i");
      }
      if (List.of("refresh", "include", "exclude", "largeResult").stream().anyMatch(entry::has)) {
        entry.remove("command");
        entry.put("type", "openapi").put("url", "http://x");
      }
      if (List.of("services", "descriptorSet", "streaming", "maxMessages").stream()
          .anyMatch(entry::has)) {
        entry.remove("command");
        entry.put("type", "grpc").put("url", "grpc://x:1");
      }
      if (entry.has("callsPerRequest") || entry.has("collect")) {
        entry.remove("command");
        entry.put("type", "toolcall").put("url", "http://x").putArray("tools");
      }
      if (entry.has("tls") || entry.has("oauth")) {
        entry.remove("command");
        entry.put("url", "http://x");
      }
    }
    return root;
  }

  private static BridgeConfig config(String text) {
    return new ConfigReader(ENVIRONMENT).read(text, ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  private static boolean isRefused(String text) {
    try {
      config(text);
      return false;
    } catch (ConfigException expected) {
      return true;
    }
  }

  private static List<ConfigProblem> warnings(String text) {
    return config(text).warnings();
  }

  private static List<String> problems(String text) {
    List<String> problems = new ArrayList<>(problemsExceptMissingPrograms(text));
    warnings(text).forEach(warning -> problems.add(warning.toString()));
    return problems;
  }

  private static List<String> problemsExceptMissingPrograms(String text) {
    try {
      List<String> problems = new ArrayList<>();
      schema.validate(Json.mapper().readTree(text)).forEach(e -> problems.add(e.toString()));
      warnings(text).stream()
          .filter(warning -> !warning.path().endsWith(".command"))
          .forEach(warning -> problems.add(warning.toString()));
      return problems;
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
