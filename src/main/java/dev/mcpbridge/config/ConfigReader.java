package dev.mcpbridge.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.access.AccessRules;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Creates a {@link BridgeConfig} from the text of the file and the environment. Reads the whole
 * text and reports all problems at once.
 */
public final class ConfigReader {
  private static final List<String> OWN_SECTIONS = List.of("http", "cluster", "threads");

  private final Map<String, String> environment;
  private final NodeOptions nodeOptions;

  public ConfigReader(Map<String, String> environment) {
    this(environment, null);
  }

  /**
   * @param nodeOptions identify this node; null for a node that does not join the cluster
   */
  public ConfigReader(Map<String, String> environment, NodeOptions nodeOptions) {
    this.environment = environment;
    this.nodeOptions = nodeOptions;
  }

  /** How invalid server entries are handled. */
  public enum Strictness {
    /** One invalid server makes the whole text invalid: for checks and reloads. */
    ALL_OR_NOTHING,
    /** An invalid server is listed as failed and the others start: for the start of the bridge. */
    PER_SERVER
  }

  /**
   * @throws ConfigException with all problems
   */
  public BridgeConfig read(String json, Strictness strictness) {
    List<ConfigProblem> problems = new ArrayList<>();
    List<ConfigProblem> warnings = new ArrayList<>();
    Section root =
        new Section(parse(json), ConfigSchema.root(), "", new Placeholders(environment), problems);
    root.warnOfUnknown(warnings);
    String serversKey = serversKey(root);
    ObjectNode entries = Json.object();
    if (root.section(serversKey).node() instanceof ObjectNode given) {
      entries.setAll(given.deepCopy());
    }
    new EnvironmentOverrides(environment, problems).apply(entries);
    AuthConfig auth = AuthReader.read(root.section("auth"));
    AccessRules access = AccessReader.read(root.section("access"), root.has("access"));
    HttpConfig http = http(root.section("http"), auth);
    RiskConfig risk = risk(root.section("risk"));
    requireKnownApprover(root.section("risk"), risk, auth);
    AuditConfig audit = AuditConfig.read(root.section("audit"), root.has("audit"));
    LimitsConfig limits = limits(root.section("limits"), root.section("validation"));
    TelemetryConfig telemetry =
        TelemetryConfig.read(root.section("telemetry"), root.section("metrics"), environment);
    List<WebhookConfig> webhooks = WebhookConfig.read(root, warnings);
    SandboxConfig sandbox =
        SandboxReader.read(root.section("sandbox"), environment.get("DOCKER_HOST"));
    ClusterConfig cluster = ClusterReader.read(root.section("cluster"), nodeOptions, environment);
    Map<ServerId, ServerConfig> servers =
        servers(root.withContent(serversKey, entries), strictness, risk, sandbox, warnings);
    PinsConfig pins = PinsConfig.read(root.section("pins"), servers);
    AccessReader.requirePins(root.section("access"), access, pins, servers.keySet());
    requireKnownCallers(auth, http, servers, problems);
    BridgeConfig config =
        new BridgeConfig(
            http,
            auth,
            access,
            QuotaReader.read(root),
            QuotaReader.priorities(root),
            ProfileReader.read(root),
            CredentialsConfig.read(root.section("credentials")),
            risk,
            pins,
            audit,
            telemetry,
            webhooks,
            AgentConfig.read(root.section("agent")),
            limits,
            ThreadsConfig.read(root.section("threads")),
            sandbox,
            cluster,
            servers,
            root.seconds("drain"),
            Sha256.of(json).hex(),
            warnings);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    AccessReader.warn(access, auth, serverNames(servers), warnings);
    return config;
  }

  private static void requireKnownCallers(
      AuthConfig auth,
      HttpConfig http,
      Map<ServerId, ServerConfig> servers,
      List<ConfigProblem> problems) {
    if (!auth.isRequired() && !http.isLoopback()) {
      IsolationReader.requireKnownCallers(servers.values(), problems);
    }
  }

  private static void requireKnownApprover(Section section, RiskConfig risk, AuthConfig auth) {
    if (risk.operatorApproves() && !auth.isRequired()) {
      section.report(
          "approver", "an operator is identified by a key or token: add auth.keys or auth.issuers");
    }
  }

  private static String serversKey(Section root) {
    if (root.has("servers") && root.has("mcpServers")) {
      root.report(
          "servers", "is an alias of mcpServers: put all servers under one of the two keys");
    }
    return root.has("servers") ? "servers" : "mcpServers";
  }

  private static Set<String> serverNames(Map<ServerId, ServerConfig> servers) {
    return servers.keySet().stream().map(ServerId::name).collect(Collectors.toSet());
  }

  /**
   * Merges the text of another node with that of this node: {@code http}, {@code cluster} and
   * {@code threads} are taken from the own text, everything else from the other.
   *
   * @throws ConfigException if one of them is not a JSON object
   */
  public static String merge(String others, String own) {
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
   * Reads a server that was posted to the API of this or another node.
   *
   * @param operator the configuration of the bridge, which defines what may be posted
   * @throws dev.mcpbridge.error.BridgeException FORBIDDEN for a command that is not allowed
   * @throws ConfigException with all problems; paths are relative to the body
   */
  public static ServerConfig readServer(JsonNode body, BridgeConfig operator) {
    operator.http().startRules().requireAllowed(body.path("command").asText());
    List<ConfigProblem> problems = new ArrayList<>();
    Section entry =
        new Section(body, ConfigSchema.entry(), "", new Placeholders(null), problems)
            .restrictedTo(keysAllowedOverApi());
    ServerConfig server =
        ServerEntryReader.read(body.path("id").asText(""), entry, operator.sandbox());
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return server;
  }

  private static List<String> keysAllowedOverApi() {
    List<String> keys = new ArrayList<>(List.of("id"));
    ConfigSchema.entry().path("properties").fieldNames().forEachRemaining(keys::add);
    keys.removeAll(ConfigSchema.entryKeys("fileOnly"));
    return keys;
  }

  static JsonNode parse(String json) {
    try {
      JsonNode root = Json.tree(json.startsWith("\uFEFF") ? json.substring(1) : json);
      if (!root.isObject()) {
        throw new ConfigException(List.of(new ConfigProblem("", "expected a JSON object")));
      }
      return root;
    } catch (JsonProcessingException e) {
      String reason = e.getOriginalMessage().replaceAll(" \\(start marker at .*", "");
      JsonLocation at = e.getLocation();
      String position =
          at == null ? "" : " (line %d, column %d)".formatted(at.getLineNr(), at.getColumnNr());
      throw new ConfigException(
          List.of(new ConfigProblem("", "not valid JSON: " + reason + position)));
    }
  }

  private HttpConfig http(Section http, AuthConfig auth) {
    HttpConfig config =
        new HttpConfig(
            http.text("host"),
            port(http),
            hosts(http, auth),
            Set.copyOf(lowerCase(http.section("cors").texts("origins"))),
            tls(http.section("tls")),
            http.flag("insecure"),
            http.flag("openHealth"),
            http.flag("console"),
            http.integer("maxConnections"),
            http.integer("maxStreams"),
            new HttpConfig.Sessions(http.integer("maxSessions"), http.seconds("sessionIdle")),
            new HttpConfig.RequestTimeouts(
                http.seconds("headTimeout"),
                http.seconds("bodyTimeout"),
                http.seconds("idleTimeout")),
            HttpConfig.Compressed.valueOf(http.text("compression").toUpperCase(Locale.ROOT)),
            StartRules.read(http));
    String objection = config.isLoopback() ? null : auth.objection(config.insecure());
    if (objection != null) {
      http.report("host", config.host() + " " + objection);
    }
    if (config.corsOrigins().contains("*")) {
      http.report("cors.origins", "list the origins; * is not accepted");
    }
    return config;
  }

  private static Set<String> hosts(Section http, AuthConfig auth) {
    Set<String> hosts = new HashSet<>(lowerCase(http.texts("hosts")));
    if (auth.publicUrl() != null) {
      hosts.add(URI.create(auth.publicUrl()).getHost().toLowerCase(Locale.ROOT));
    }
    return Set.copyOf(hosts);
  }

  private int port(Section http) {
    String port = environment.get("PORT");
    if (port == null) {
      return http.integer("port");
    }
    if (port.strip().matches("\\d{1,5}") && Integer.parseInt(port.strip()) <= 65_535) {
      return Integer.parseInt(port.strip());
    }
    http.problems().add(new ConfigProblem("PORT", "expected a port number, found \"" + port + '"'));
    return http.integer("port");
  }

  private static HttpConfig.Tls tls(Section tls) {
    if (!tls.has("cert") && !tls.has("key")) {
      return null;
    }
    return new HttpConfig.Tls(tls.pem("cert", "BEGIN CERTIFICATE"), tls.pem("key", "PRIVATE KEY"));
  }

  private static RiskConfig risk(Section risk) {
    return new RiskConfig(
        ServerEntryReader.level(risk, "default"),
        ServerEntryReader.destructiveToolPolicy(risk),
        risk.text("approver").equals("operator"),
        risk.flag("requireToken"),
        risk.seconds("expiry"),
        risk.integer("pendingStatus"));
  }

  private static LimitsConfig limits(Section limits, Section validation) {
    return new LimitsConfig(
        limits.integer("bodyBytes"),
        limits.integer("messageBytes"),
        limits.integer("heldBytes", quarterOfHeap()),
        limits.integer("depth"),
        new LimitsConfig.Validation(
            validation.text("onBudget").equals("refuse"),
            validation.integer("steps"),
            validation.seconds("time")));
  }

  private static int quarterOfHeap() {
    return (int) Math.min(Integer.MAX_VALUE, Runtime.getRuntime().maxMemory() / 4);
  }

  private Map<ServerId, ServerConfig> servers(
      Section entries,
      Strictness strictness,
      RiskConfig risk,
      SandboxConfig sandbox,
      List<ConfigProblem> warnings) {
    Map<ServerId, ServerConfig> servers = new LinkedHashMap<>();
    Set<String> lowerCaseNames = new HashSet<>();
    for (Map.Entry<String, JsonNode> field : entries.node().properties()) {
      List<ConfigProblem> entryProblems = new ArrayList<>();
      Section entry =
          new Section(
              field.getValue(),
              ConfigSchema.entry(),
              entries.pathOf(field.getKey()),
              new Placeholders(environment),
              entryProblems);
      if (entry.flag("disabled")) {
        continue;
      }
      if (!lowerCaseNames.add(field.getKey().toLowerCase(Locale.ROOT))) {
        entry.report("", "another server has the same name except for upper and lower case");
      }
      entry.warnOfUnknown(warnings);
      ServerConfig server = ServerEntryReader.read(field.getKey(), entry, sandbox);
      if (entryProblems.isEmpty()) {
        checkProgram(entry, server, warnings);
        checkContainer(entry, server, risk, warnings);
        IsolationReader.warnOfOAuth(entry, server.upstreamTarget(), warnings);
      }
      if (entryProblems.isEmpty()) {
        servers.put(server.id(), server);
      } else if (strictness == Strictness.ALL_OR_NOTHING || !ServerId.isValid(field.getKey())) {
        entries.problems().addAll(entryProblems);
      } else {
        ConfigException invalid = new ConfigException(entryProblems);
        warnings.addAll(invalid.problems());
        servers.put(
            new ServerId(field.getKey()),
            ServerEntryReader.refused(field.getKey(), entry, invalid.getMessage()));
      }
    }
    return servers;
  }

  /**
   * A missing program is only a warning, since it may be installed later. A whole command line in
   * place of a program is an error.
   */
  private void checkProgram(Section entry, ServerConfig server, List<ConfigProblem> warnings) {
    if (!(server.upstreamTarget() instanceof ProcessTarget processTarget)) {
      return;
    }
    String program = processTarget.argv().get(0);
    if (processTarget.executable(environment.get("PATH")).isPresent()) {
      return;
    }
    if (program.contains(" ")) {
      entry.report(
          "command",
          "no such program: \"" + program + "\"; put the program here and its arguments into args");
    } else {
      String searched = program.contains("/") ? "" : " on the PATH";
      warnings.add(
          new ConfigProblem(
              entry.pathOf("command"), "program \"" + program + "\" not found" + searched));
    }
  }

  /** Level 3 never runs on the host: without a container its calls are refused. */
  private static void checkContainer(
      Section entry, ServerConfig server, RiskConfig risk, List<ConfigProblem> warnings) {
    boolean byDefault = server.risk().server() == null && risk.defaultLevel() == RiskLevel.HIGH;
    if (server.sandboxPool() == null && (byDefault || server.risk().contains(RiskLevel.HIGH))) {
      warnings.add(
          new ConfigProblem(
              entry.pathOf("docker"),
              server.upstreamTarget() instanceof ProcessTarget
                  ? "not set, so calls at risk level 3 are refused: set docker.image"
                  : "calls at risk level 3 are refused: a remote server has no container"));
    }
  }

  private static List<String> lowerCase(List<String> texts) {
    return texts.stream().map(text -> text.toLowerCase(Locale.ROOT)).toList();
  }
}
