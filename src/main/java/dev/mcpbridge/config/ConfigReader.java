package dev.mcpbridge.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Makes a {@link BridgeConfig} of the text of the file and the environment. Reads the whole text
 * before it complains, and then of everything at once.
 */
public final class ConfigReader {
  static final List<String> SECTIONS =
      List.of(
          "$schema",
          "http",
          "auth",
          "risk",
          "limits",
          "validation",
          "sandbox",
          "cluster",
          "drain",
          "mcpServers",
          "servers");
  private static final List<String> OWN_SECTIONS = List.of("http", "cluster");
  private static final Set<String> SCOPES = Set.of("read", "call", "approve", "admin");

  private final Map<String, String> environment;
  private final NodeOptions choice;

  public ConfigReader(Map<String, String> environment) {
    this(environment, null);
  }

  /**
   * @param choice which node of the cluster reads; null for one that does not join
   */
  public ConfigReader(Map<String, String> environment, NodeOptions choice) {
    this.environment = environment;
    this.choice = choice;
  }

  /** How much of a wrong entry is forgiven. */
  public enum Strictness {
    /** One wrong server refuses the whole text: for checks and reloads. */
    WHOLE,
    /** A wrong server is listed as failed and the others run: for the start. */
    SERVER_BY_SERVER
  }

  /**
   * @throws ConfigException with everything that is wrong
   */
  public BridgeConfig read(String json, Strictness strictness) {
    List<ConfigProblem> problems = new ArrayList<>();
    List<ConfigProblem> warnings = new ArrayList<>();
    Section root = new Section(parse(json), "", Placeholders.of(environment), problems);
    root.allowStrangers(SECTIONS, warnings);
    String servers = root.has("servers") ? "servers" : "mcpServers";
    if (root.has("servers") && root.has("mcpServers")) {
      root.complain("servers", "means the same as mcpServers: put all servers into one of them");
    }
    ObjectNode entries = Json.object();
    root.section(servers).each((name, value) -> entries.set(name, value.deepCopy()));
    new EnvironmentOverrides(environment, problems).apply(entries);
    AuthConfig auth = auth(root.section("auth"));
    HttpConfig http = http(root.section("http"), auth);
    RiskConfig risk = risk(root.section("risk"));
    if (risk.operatorApproves() && auth.keys().isEmpty()) {
      root.section("risk").complain("approver", "an operator is told by a key: add auth.keys");
    }
    LimitsConfig limits = limits(root.section("limits"), root.section("validation"));
    long drainMillis = root.seconds("drain", 5, 0, 600);
    SandboxConfig sandbox =
        SandboxReader.read(root.section("sandbox"), environment.get("DOCKER_HOST"));
    ClusterConfig cluster = ClusterReader.read(root.section("cluster"), choice, environment);
    Section all = new Section(entries, servers, Placeholders.of(environment), problems);
    Map<ServerId, ServerConfig> understood = servers(all, strictness, risk, sandbox, warnings);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new BridgeConfig(
        http, auth, risk, limits, sandbox, cluster, understood, drainMillis, warnings);
  }

  /**
   * What another node's text says for all nodes, and a node's own text for itself alone.
   *
   * @throws ConfigException where one of them is no JSON object
   */
  public static String combined(String others, String own) {
    ObjectNode combined = (ObjectNode) parse(others);
    JsonNode ownRoot = parse(own);
    for (String section : OWN_SECTIONS) {
      combined.remove(section);
      if (ownRoot.has(section)) {
        combined.set(section, ownRoot.get(section));
      }
    }
    return combined.toString();
  }

  /**
   * Understands a server that came over the API, here or to another node.
   *
   * @param operator says what may come
   * @throws dev.mcpbridge.error.BridgeException FORBIDDEN for a command that may not
   * @throws ConfigException with everything that is wrong, paths relative to the body
   */
  public static ServerConfig readServer(JsonNode body, BridgeConfig operator) {
    operator.http().starts().check(body.path("command").asText());
    List<ConfigProblem> problems = new ArrayList<>();
    Section entry = new Section(body, "", Placeholders.LITERAL, problems);
    entry.allowOnly(ServerEntryReader.KEYS_OF_API);
    ServerConfig server =
        ServerEntryReader.read(
            entry.text("id", ""), entry, ServerEntryReader.Origin.API, operator.sandbox());
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return server;
  }

  static JsonNode parse(String json) {
    try {
      JsonNode root = Json.tree(json.startsWith("\uFEFF") ? json.substring(1) : json);
      if (!root.isObject()) {
        throw new ConfigException(List.of(new ConfigProblem("", "expected a JSON object")));
      }
      return root;
    } catch (JsonProcessingException e) {
      String where =
          e.getLocation() == null
              ? ""
              : " (line "
                  + e.getLocation().getLineNr()
                  + ", column "
                  + e.getLocation().getColumnNr()
                  + ")";
      throw new ConfigException(
          List.of(
              new ConfigProblem(
                  "",
                  "not valid JSON: "
                      + e.getOriginalMessage().replaceAll(" \\(start marker at .*", "")
                      + where)));
    }
  }

  private HttpConfig http(Section http, AuthConfig auth) {
    http.allowOnly(
        List.of(
            "host",
            "port",
            "hosts",
            "cors",
            "tls",
            "insecure",
            "allowStart",
            "allowedCommands",
            "openHealth",
            "maxConnections",
            "maxStreams",
            "maxSessions",
            "sessionIdle",
            "headTimeout",
            "bodyTimeout",
            "idleTimeout"));
    Section cors = http.section("cors");
    cors.allowOnly(List.of("origins"));
    HttpConfig config =
        new HttpConfig(
            http.text("host", "127.0.0.1"),
            port(http),
            Set.copyOf(lowerCase(http.texts("hosts", 1000))),
            Set.copyOf(lowerCase(cors.texts("origins", 1000))),
            tls(http.section("tls")),
            http.flag("insecure", false),
            http.flag("openHealth", false),
            http.integer("maxConnections", 4096, 1, 1_000_000),
            http.integer("maxStreams", 256, 1, 100_000),
            new HttpConfig.Sessions(
                http.integer("maxSessions", 20_000, 1, 1_000_000),
                http.seconds("sessionIdle", 1_800, 1, 86_400 * 7)),
            new HttpConfig.Patience(
                http.seconds("headTimeout", 15, 0.1, 3600),
                http.seconds("bodyTimeout", 30, 0.1, 3600),
                http.seconds("idleTimeout", 75, 0.1, 3600)),
            StartRules.read(http));
    if (!config.isLoopback() && auth.keys().isEmpty() && !config.insecure()) {
      http.complain(
          "host",
          config.host()
              + " is reachable from other machines: add auth.keys, or say http.insecure: true");
    }
    if (config.corsOrigins().contains("*")) {
      http.complain("cors.origins", "name the origins; * is not accepted");
    }
    return config;
  }

  private int port(Section http) {
    String port = environment.get("PORT");
    if (port == null) {
      return http.integer("port", 3000, 0, 65_535);
    }
    try {
      int number = Integer.parseInt(port.strip());
      if (number >= 0 && number <= 65_535) {
        return number;
      }
    } catch (NumberFormatException e) {
      // complained of below, like a number out of range
    }
    http.problems().add(new ConfigProblem("PORT", "expected a port number, found \"" + port + '"'));
    return 3000;
  }

  private static HttpConfig.Tls tls(Section tls) {
    tls.allowOnly(List.of("cert", "key"));
    if (!tls.has("cert") && !tls.has("key")) {
      return null;
    }
    return new HttpConfig.Tls(tls.pem("cert", "BEGIN CERTIFICATE"), tls.pem("key", "PRIVATE KEY"));
  }

  private static AuthConfig auth(Section auth) {
    auth.allowOnly(List.of("keys"));
    List<AuthConfig.Key> keys = new ArrayList<>();
    Set<String> names = new HashSet<>();
    JsonNode list = auth.node().path("keys");
    if (!list.isMissingNode() && !list.isArray()) {
      auth.complain("keys", "expected a list");
    }
    for (int i = 0; i < list.size(); i++) {
      Section key = auth.element("keys", i);
      key.allowOnly(List.of("name", "sha256", "scopes"));
      String name = key.text("name", "");
      String sha256 = key.text("sha256", "").toLowerCase(Locale.ROOT);
      Set<String> scopes = Set.copyOf(new HashSet<>(key.texts("scopes", 10)));
      if (name.isBlank() || !names.add(name)) {
        key.complain("name", "expected a name that no other key has");
      }
      if (!sha256.matches("[0-9a-f]{64}")) {
        key.complain("sha256", "expected the SHA-256 of the key, 64 hexadecimal digits");
      }
      if (scopes.isEmpty() || !SCOPES.containsAll(scopes)) {
        key.complain("scopes", "expected some of read, call, approve, admin");
      }
      keys.add(new AuthConfig.Key(name, sha256, scopes));
    }
    return new AuthConfig(keys);
  }

  private static RiskConfig risk(Section risk) {
    risk.allowOnly(
        List.of("default", "annotations", "approver", "requireToken", "expiry", "pendingStatus"));
    RiskLevel level = ServerEntryReader.level(risk, "default");
    int status = risk.integer("pendingStatus", 200, 200, 202);
    if (status == 201) {
      risk.complain("pendingStatus", "expected 200 or 202");
    }
    return new RiskConfig(
        level,
        ServerEntryReader.annotations(risk),
        risk.oneOf("approver", "caller", "caller", "operator").equals("operator"),
        risk.flag("requireToken", true),
        risk.seconds("expiry", 600, 0.1, 86_400),
        status);
  }

  private static LimitsConfig limits(Section limits, Section validation) {
    limits.allowOnly(List.of("bodyBytes", "messageBytes", "heldBytes", "depth"));
    return new LimitsConfig(
        limits.integer("bodyBytes", 4 << 20, 1024, 1 << 30),
        limits.integer("messageBytes", 16 << 20, 1024, 1 << 30),
        limits.integer("heldBytes", aQuarterOfTheHeap(), 1 << 20, Integer.MAX_VALUE),
        limits.integer("depth", 200, 1, 1000),
        validation(validation));
  }

  private static LimitsConfig.Validation validation(Section validation) {
    validation.allowOnly(List.of("onBudget", "steps", "time"));
    return new LimitsConfig.Validation(
        validation.oneOf("onBudget", "pass", "pass", "refuse").equals("refuse"),
        validation.integer("steps", 2_000_000, 1_000, 1_000_000_000),
        validation.seconds("time", 0.5, 0.01, 60));
  }

  private static int aQuarterOfTheHeap() {
    return (int) Math.min(Integer.MAX_VALUE, Runtime.getRuntime().maxMemory() / 4);
  }

  private Map<ServerId, ServerConfig> servers(
      Section entries,
      Strictness strictness,
      RiskConfig risk,
      SandboxConfig sandbox,
      List<ConfigProblem> warnings) {
    Map<ServerId, ServerConfig> servers = new LinkedHashMap<>();
    Set<String> lower = new HashSet<>();
    for (Map.Entry<String, JsonNode> named : entries.node().properties()) {
      List<ConfigProblem> own = new ArrayList<>();
      Section entry =
          new Section(
              named.getValue(), entries.at(named.getKey()), Placeholders.of(environment), own);
      if (entry.flag("disabled", false)) {
        continue;
      }
      if (!lower.add(named.getKey().toLowerCase(Locale.ROOT))) {
        entry.complain("", "another server has the same name but for upper and lower case");
      }
      entry.allowStrangers(ServerEntryReader.KEYS, warnings);
      ServerConfig server =
          ServerEntryReader.read(named.getKey(), entry, ServerEntryReader.Origin.FILE, sandbox);
      if (own.isEmpty()) {
        checkProgram(entry, server, warnings);
        checkContainer(entry, server, risk, warnings);
      }
      if (own.isEmpty()) {
        servers.put(server.id(), server);
      } else if (strictness == Strictness.WHOLE || !ServerId.isValid(named.getKey())) {
        entries.problems().addAll(own);
      } else {
        warnings.addAll(own);
        servers.put(
            new ServerId(named.getKey()),
            ServerEntryReader.refused(
                named.getKey(), entry, new ConfigException(own).getMessage()));
      }
    }
    return servers;
  }

  /** A program that is not there yet may come; one that is a whole command line never will. */
  private void checkProgram(Section entry, ServerConfig server, List<ConfigProblem> warnings) {
    if (!(server.upstreamTarget() instanceof ProcessTarget processTarget)) {
      return;
    }
    String program = processTarget.argv().get(0);
    if (processTarget.program(environment.get("PATH")).isPresent()) {
      return;
    }
    if (program.contains(" ")) {
      entry.complain(
          "command",
          "no such program: \"" + program + "\"; put the program here and its arguments into args");
    } else {
      String where = program.contains("/") ? "" : " on the PATH";
      warnings.add(
          new ConfigProblem(
              entry.at("command"), "there is no program \"" + program + '"' + where + " here"));
    }
  }

  /** Level 3 never runs on the host, so that without a container its calls are refused. */
  private static void checkContainer(
      Section entry, ServerConfig server, RiskConfig risk, List<ConfigProblem> warnings) {
    boolean byDefault = server.risk().server() == null && risk.defaultLevel() == RiskLevel.HIGH;
    if (server.sandboxPool() == null && (byDefault || server.risk().mention(RiskLevel.HIGH))) {
      warnings.add(
          new ConfigProblem(
              entry.at("docker"),
              server.upstreamTarget() instanceof ProcessTarget
                  ? "calls at risk level 3 are refused without it: name the image they run in"
                  : "calls at risk level 3 are refused: a server elsewhere has no container here"));
    }
  }

  private static List<String> lowerCase(List<String> texts) {
    return texts.stream().map(text -> text.toLowerCase(Locale.ROOT)).toList();
  }
}
