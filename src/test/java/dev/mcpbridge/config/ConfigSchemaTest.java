package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema that editors use and the reader that the bridge uses say the same. */
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
  void bothTakeTheFilesThatComeWithTheBridge(String name) throws Exception {
    assertEquals(List.of(), complaints(Files.readString(Path.of("conf", name + ".json"))));
  }

  @Test
  void bothTakeTheFilesOfTheReadme() throws Exception {
    List<String> files = new ArrayList<>();
    Matcher block =
        Pattern.compile("```json\\n([^`]*\"mcpServers\"[^`]*)```")
            .matcher(Files.readString(Path.of("README.md")));
    while (block.find()) {
      files.add(block.group(1));
    }

    assertEquals(2, files.size());
    for (String file : files) {
      assertEquals(List.of(), complaintsButForPrograms(file));
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
  void bothTake(String singleQuoted) throws Exception {
    String text = singleQuoted.replace('\'', '"');
    JsonNode read = Json.mapper().readTree(text.replace("${env:PWD}", "https://x"));

    assertEquals(List.of(), schema.validate(read));
    new ConfigReader(Map.of("PWD", "https://x")).read(text, ConfigReader.Strictness.WHOLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'http':{'port':70000}}",
        "{'http':{'prot':1}}",
        "{'http':{'maxConnections':0}}",
        "{'http':{'host':'0.0.0.0'}}",
        "{'http':{'cors':{'origins':['*']}}}",
        "{'http':{'tls':{'cert':'pom.xml'}}}",
        "{'http':{'allowStart':'no'}}",
        "{'http':{'allowedCommands':'npx'}}",
        "{'auth':{'keys':[{'name':'a','sha256':'x','scopes':['read']}]}}",
        "{'risk':{'default':4}}",
        "{'risk':{'approver':'me'}}",
        "{'risk':{'approver':'operator'}}",
        "{'risk':{'pendingStatus':201}}",
        "{'limits':{'depth':0}}",
        "{'drain':-1}",
        "{'mcpServer':{}}",
        "{'mcp_servers':{}}",
        "{'servers':{},'mcpServers':{}}",
        "{'servers':{'s':{}}}",
        "{'mcpServers':{'s':{}}}",
        "{'mcpServers':{'a b':{'command':'x'}}}",
        "{'mcpServers':{'s':{'comand':'x'}}}",
        "{'mcpServers':{'s':{'url':'http://x','header':{}}}}",
        "{'mcpServers':{'s':{'command':'x','url':'http://x'}}}",
        "{'mcpServers':{'s':{'command':'x','builtin':'git'}}}",
        "{'mcpServers':{'s':{'command':'x','timeout':-1}}}",
        "{'mcpServers':{'s':{'command':'x','args':'y'}}}",
        "{'mcpServers':{'s':{'command':'x','riskLevel':3}}}",
        "{'mcpServers':{'s':{'command':'x','riskLevel':4}}}",
        "{'mcpServers':{'s':{'url':'http://x','type':'websocket'}}}",
        "{'mcpServers':{'s':{'url':'http://x','docker':{'image':'i'}}}}",
        "{'mcpServers':{'s':{'type':'openapi'}}}",
        "{'mcpServers':{'s':{'type':'openapi','file':'pom.xml','command':'x'}}}",
        "{'mcpServers':{'s':{'type':'openapi','url':'http://x','auth':{'type':'basic'}}}}",
        "{'mcpServers':{'s':{'type':'toolcall','url':'http://x'}}}",
        "{'mcpServers':{'s':{'command':'x','risk':{'tools':{'a':9}}}}}",
        "{'mcpServers':{'s':{'command':'x','risk':{'tool':{'a':2}}}}}",
        "{'mcpServers':{'s':{'command':'x','env':{'A':1}}}}",
        "{'mcpServers':{'s':{'command':'x','instances':0}}}",
        "{'mcpServers':{'s':{'command':'x','instances':2,'isolation':'session'}}}",
        "{'mcpServers':{'s':{'command':'x','start':'maybe'}}}",
        "{'mcpServers':{'s':{'command':'x','tools':{'a':{'timeout':0}}}}}",
        "{'mcpServers':{'s':{'command':'x','logLevel':'loud'}}}",
        "{'mcpServers':{'s':{'command':'x','isolation':'yes'}}}",
        "{'mcpServers':{'s':{'command':'x','maxSessions':0}}}",
        "{'mcpServers':{'s':{'command':'x','roots':'all'}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','privileged':true}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','network':'host'}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','memory':'much'}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','user':'0'}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','volumes':['x:/y']}}}}",
        "{'sandbox':{'engine':'ssh://x'}}",
        "{'sandbox':{'limits':{'cpus':0}}}"
      })
  void bothRefuse(String singleQuoted) throws Exception {
    String text = singleQuoted.replace('\'', '"');

    assertFalse(schema.validate(Json.mapper().readTree(text)).isEmpty(), text);
    assertTrue(isRefused(text), text);
  }

  /** What an editor underlines the reader refuses or warns of. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'globalShortcut':'x'}",
        "{'mcpServers':{'s':{'command':'sh','alwaysAllow':['x']}}}",
        "{'mcpServers':{'s':{'command':'sh','callTimeout':-1}}}"
      })
  void anUnknownKeyIsNoticedByBoth(String singleQuoted) throws Exception {
    String text = singleQuoted.replace('\'', '"');

    assertFalse(schema.validate(Json.mapper().readTree(text)).isEmpty(), text);
    assertEquals(1, warnings(text).size(), text);
  }

  /** An unknown key is answered with the known ones, so that the two can be compared. */
  @Test
  void bothKnowTheSameKeys() {
    Map<String, Set<String>> ofSchema = new TreeMap<>();
    collect("", json, ofSchema);
    Map<String, Set<String>> ofReader = new TreeMap<>();
    ofReader.put("", new TreeSet<>(ConfigReader.SECTIONS));
    ofReader.put("mcpServers.s", new TreeSet<>(ServerEntryReader.KEYS));
    ofSchema.keySet().stream()
        .filter(path -> !ofReader.containsKey(path))
        .toList()
        .forEach(path -> ofReader.put(path, keysOfReader(path)));

    assertEquals(ofReader, ofSchema);
  }

  @Test
  void everyKeyOfTheSchemaHasADescriptionAndAType() {
    List<String> bare = new ArrayList<>();
    describe("", json, bare);

    assertEquals(List.of(), bare);
  }

  @Test
  void bothHaveTheSameBounds() {
    List<String> different = new ArrayList<>();
    bounds("", json, different);

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
    BridgeConfig explicit = whole(written.toString());
    BridgeConfig silent = whole("{}");

    assertEquals(silent.http(), explicit.http());
    assertEquals(silent.risk(), explicit.risk());
    assertEquals(silent.limits(), explicit.limits());
    assertEquals(silent.sandbox(), explicit.sandbox());
    assertEquals(silent.drainMillis(), explicit.drainMillis());
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
    assertSame("{'type':'openapi','url':'http://x'}", api);
  }

  private static void assertSame(String silent, ObjectNode explicit) {
    ServerConfig one = server(silent.replace('\'', '"'));
    ServerConfig other = server(explicit.toString());
    assertEquals(one.upstreamTarget(), other.upstreamTarget());
    assertEquals(one.sandboxPool(), other.sandboxPool());
    assertEquals(one.risk(), other.risk());
    assertEquals(one.timeouts(), other.timeouts());
    assertEquals(one.supervision(), other.supervision());
    assertEquals(one.conversation(), other.conversation());
    assertEquals(one.isolation(), other.isolation());
  }

  private static ServerConfig server(String entry) {
    return whole("{\"mcpServers\":{\"s\":" + entry + "}}").servers().values().iterator().next();
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

  private static void bounds(String path, JsonNode schema, List<String> different) {
    JsonNode at = resolved(schema);
    if (at.path("type").isTextual() && at.has("minimum") && at.has("maximum")) {
      double min = at.path("minimum").asDouble();
      double max = at.path("maximum").asDouble();
      double step = at.path("type").asText().equals("integer") ? 1 : 0.01;
      boolean isSame =
          takes(path, at, min)
              && takes(path, at, max)
              && !takes(path, at, min - step)
              && !takes(path, at, max + step);
      if (!isSame) {
        different.add(path);
      }
    }
    each(path, at, (below, value) -> bounds(below, value, different));
  }

  private static boolean takes(String path, JsonNode schema, double number) {
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

  private static void describe(String path, JsonNode schema, List<String> bare) {
    JsonNode at = resolved(schema);
    boolean isTyped = at.has("type") && at.has("description");
    if (!isTyped || at.path("description").asText().isBlank()) {
      bare.add(path);
    }
    each(path, at, (below, value) -> describe(below, value, bare));
  }

  private static void collect(String path, JsonNode schema, Map<String, Set<String>> keys) {
    JsonNode at = resolved(schema);
    if (at.has("properties")) {
      Set<String> own = keys.computeIfAbsent(path, p -> new TreeSet<>());
      at.get("properties").fieldNames().forEachRemaining(own::add);
    }
    each(path, at, (below, value) -> collect(below, value, keys));
  }

  private interface Visitor {
    void visit(String path, JsonNode schema);
  }

  /** Whatever stands below: members, the servers under one name, the elements of lists. */
  private static void each(String path, JsonNode schema, Visitor visitor) {
    schema
        .path("properties")
        .properties()
        .forEach(
            property -> {
              if (!property.getKey().equals("servers") || !path.isEmpty()) {
                visitor.visit(
                    path.isEmpty() ? property.getKey() : path + "." + property.getKey(),
                    property.getValue());
              }
            });
    JsonNode more = schema.path("additionalProperties");
    if (resolved(more).has("properties")) {
      visitor.visit(path + ".s", more);
    }
    if (resolved(schema.path("items")).has("properties")) {
      visitor.visit(path + "[0]", schema.get("items"));
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
              ConfigReader.Strictness.WHOLE);
      throw new AssertionError("an unknown key is taken in " + path);
    } catch (ConfigException e) {
      String marker = "expected one of ";
      return e.problems().stream()
          .filter(problem -> problem.path().equals(path + ".zzzzzzzz"))
          .map(ConfigProblem::what)
          .map(what -> what.substring(what.indexOf(marker) + marker.length()))
          .findFirst()
          .map(listed -> (Set<String>) new TreeSet<>(List.of(listed.split(", "))))
          .orElseThrow(() -> new AssertionError(path + ": " + e.getMessage()));
    }
  }

  /** A file that says this one thing, and what is needed beside it. */
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
    if (root.at("/mcpServers/s") instanceof ObjectNode entry) {
      entry.put("command", "sh");
      if (entry.get("docker") instanceof ObjectNode docker) {
        docker.put("image", "i");
      }
      if (List.of("refresh", "include", "exclude", "largeResult").stream().anyMatch(entry::has)) {
        entry.remove("command");
        entry.put("type", "openapi").put("url", "http://x");
      }
      if (entry.has("tls")) {
        entry.remove("command");
        entry.put("url", "http://x");
      }
    }
    return root;
  }

  private static BridgeConfig whole(String text) {
    return new ConfigReader(ENVIRONMENT).read(text, ConfigReader.Strictness.WHOLE);
  }

  private static boolean isRefused(String text) {
    try {
      whole(text);
      return false;
    } catch (ConfigException expected) {
      return true;
    }
  }

  private static List<ConfigProblem> warnings(String text) {
    return whole(text).warnings();
  }

  private static List<String> complaints(String text) {
    List<String> complaints = new ArrayList<>(complaintsButForPrograms(text));
    warnings(text).forEach(warning -> complaints.add(warning.toString()));
    return complaints;
  }

  private static List<String> complaintsButForPrograms(String text) {
    try {
      List<String> complaints = new ArrayList<>();
      schema.validate(Json.mapper().readTree(text)).forEach(e -> complaints.add(e.toString()));
      warnings(text).stream()
          .filter(warning -> !warning.path().endsWith(".command"))
          .forEach(warning -> complaints.add(warning.toString()));
      return complaints;
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
