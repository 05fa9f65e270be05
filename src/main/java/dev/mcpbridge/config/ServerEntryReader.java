package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.Timeouts;
import dev.mcpbridge.protocol.Era;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads one entry of {@code mcpServers}, from the file or from the API. Stateless. */
final class ServerEntryReader {
  private static final List<String> TARGET_KEYS = List.of("builtin", "command", "url");

  private static final Map<String, Era> ERAS =
      Map.of("auto", Era.UNKNOWN, "legacy", Era.LEGACY, "modern", Era.STATELESS);
  private static final int MAX_TEXT = 100_000;

  private ServerEntryReader() {}

  /** Reads an entry; adds problems to those of the section. */
  static ServerConfig read(String name, Section entry, SandboxConfig limits) {
    checkName(name, entry);
    checkTarget(entry);
    RiskRules risk = risk(entry);
    ServerConfig.Supervision supervision = supervision(entry);
    SandboxPool sandboxPool = sandbox(entry, risk, supervision.startTimeout(), limits);
    UpstreamTarget upstreamTarget =
        sandboxPool != null
            ? sandboxPool.container()
            : isRemote(entry) ? remoteTarget(entry) : launch(entry);
    Timeouts timeouts = timeouts(entry);
    ServerConfig.SessionSettings sessionSettings = conversation(entry);
    ServerConfig.Isolation isolation = IsolationReader.read(entry, upstreamTarget);
    List<String> placement = entry.texts("placement");
    EntryDigests digests = EntryDigests.of(entry.node(), entry.placeholders().values());
    return new ServerConfig(
        new ServerId(ServerId.isValid(name) ? name : "invalid"),
        upstreamTarget,
        risk,
        entry.has("pins") ? PinsConfig.rules(entry.section("pins")) : null,
        timeouts,
        supervision,
        sessionSettings,
        isolation,
        sandboxPool,
        CacheReader.read(entry, isolation),
        placement,
        null,
        digests.ofProgram(),
        digests.ofEntry());
  }

  /** An invalid entry, as a server that reports the reason instead of running. */
  static ServerConfig refused(String name, Section entry, String reason) {
    return new ServerConfig(
        new ServerId(name),
        new ProcessTarget(List.of("refused"), Map.of(), null),
        RiskRules.NONE,
        null,
        new Timeouts(60_000, List.of()),
        new ServerConfig.Supervision(1, true, 30_000, 0, 1000, 1, 1),
        new ServerConfig.SessionSettings(Era.UNKNOWN, false, null, false),
        null,
        null,
        null,
        List.of(),
        new ServerState.Refused(ErrorCode.SERVER_UNAVAILABLE, reason),
        "",
        EntryDigests.of(entry.node(), List.of(reason)).ofEntry());
  }

  private static void checkName(String name, Section entry) {
    if (!ServerId.isValid(name)) {
      entry.report(
          "",
          "a server id must be 1 to 63 letters, digits, '_', '.' or '-', and start with a letter or"
              + " a digit");
    }
  }

  /** An entry defines in exactly one way how its server is reached. */
  private static void checkTarget(Section entry) {
    List<String> given = TARGET_KEYS.stream().filter(entry::has).toList();
    if (given.size() > 1) {
      entry.report(
          given.get(given.size() - 1),
          "only one of "
              + String.join(" and ", given)
              + " is allowed: a command is started by the bridge, a url is a remote server");
    }
    if (isAdapted(entry) && (entry.has("command") || entry.has("builtin"))) {
      entry.report("type", "the type " + entry.text("type") + " cannot have a command or builtin");
    }
  }

  private static boolean isAdapted(Section entry) {
    return List.of("openapi", "toolcall", "grpc").contains(entry.node().path("type").asText());
  }

  /** Whether the server is reached over HTTP and not started by the bridge. */
  private static boolean isRemote(Section entry) {
    return !entry.has("command") && (entry.has("url") || isAdapted(entry));
  }

  private static UpstreamTarget remoteTarget(Section entry) {
    return switch (entry.text("type", "http")) {
      case "openapi" -> OpenApiEntryReader.read(entry);
      case "toolcall" -> HttpEntryReader.toolCall(entry);
      case "grpc" -> GrpcEntryReader.read(entry);
      default -> HttpEntryReader.remote(entry);
    };
  }

  private static ProcessTarget launch(Section entry) {
    List<String> argv = new ArrayList<>(program(entry));
    argv.addAll(entry.texts("args"));
    if (argv.stream().anyMatch(arg -> arg.indexOf('\0') >= 0 || arg.length() > MAX_TEXT)) {
      entry.report(
          "args", "an argument contains NUL or is longer than " + MAX_TEXT + " characters");
    }
    Map<String, Secret> environment = variables(entry);
    if (entry.isFromApi()) {
      environment.keySet().stream()
          .filter(CodeVariables::contains)
          .forEach(name -> entry.report("env." + name, "only the configuration file may set it"));
    }
    return new ProcessTarget(argv, environment, directory(entry));
  }

  private static List<String> program(Section entry) {
    if (entry.has("builtin")) {
      return Builtin.commandOf(entry.text("builtin", "git"));
    }
    boolean isFromApi = entry.isFromApi();
    String command = entry.text("command", "");
    if (command.isBlank() && entry.has("docker") && !isFromApi) {
      return List.of();
    }
    if (command.isBlank()) {
      entry.report("command", "expected the program to start" + (isFromApi ? "" : ", or a url"));
    } else if (isFromApi && command.contains("/") && !command.startsWith("/")) {
      entry.report("command", "expected a program name or an absolute path");
    }
    return List.of(command);
  }

  private static Path directory(Section entry) {
    String directory = entry.text("cwd");
    if (directory == null) {
      return null;
    }
    Path path = Section.path(directory);
    if (path == null || !Files.isDirectory(path)) {
      entry.report("cwd", "no such directory: " + directory);
    }
    return path;
  }

  /** The environment variables of an entry or of its container. */
  static Map<String, Secret> variables(Section section) {
    return section.secrets(
        "env",
        (name, value) ->
            name.matches("[^=\\s\\p{Cntrl}]+")
                && value.indexOf('\0') < 0
                && value.length() <= MAX_TEXT,
        "not a valid environment variable");
  }

  private static RiskRules risk(Section entry) {
    Section risk = entry.section("risk");
    List<RiskRules.ToolRule> tools = new ArrayList<>();
    Section rules = risk.section("tools");
    for (String pattern : rules.names()) {
      JsonNode rule = rules.json(pattern);
      if (!rule.isMissingNode()) {
        RiskLevel level = RiskLevel.of(rule.asInt(0)).orElse(null);
        tools.add(new RiskRules.ToolRule(new Glob(pattern), level));
      }
    }
    return new RiskRules(
        level(entry, "riskLevel"),
        tools,
        level(risk, "resources"),
        level(risk, "prompts"),
        risk.flag("fromMethods"),
        destructiveToolPolicy(risk));
  }

  /** Null if not set. */
  static DestructiveToolPolicy destructiveToolPolicy(Section risk) {
    String policy = risk.text("annotations");
    return policy == null
        ? null
        : policy.equals("raise") ? DestructiveToolPolicy.RAISE : DestructiveToolPolicy.IGNORE;
  }

  static RiskLevel level(Section section, String key) {
    return RiskLevel.of(section.integer(key, 0)).orElse(null);
  }

  /** Level 3 never runs on the host, so a server of this level needs a container. */
  private static SandboxPool sandbox(
      Section entry, RiskRules risk, long startMillis, SandboxConfig limits) {
    if (risk.server() != RiskLevel.HIGH && !entry.has("docker")) {
      return null;
    }
    if (isRemote(entry)) {
      entry.report("docker", "a remote server cannot run in a container");
      return null;
    }
    if (entry.isFromApi()) {
      refuseAbove(entry, "instances", entry.integer("instances"), limits);
      refuseAbove(entry, "maxSessions", entry.integer("maxSessions", 1), limits);
    }
    return ContainerEntryReader.read(entry.section("docker"), launch(entry), startMillis, limits);
  }

  private static void refuseAbove(Section entry, String key, int containers, SandboxConfig limits) {
    if (containers > limits.entryLimits().pool()) {
      entry.report(key, "more containers than sandbox.limits.pool allows");
    }
  }

  private static Timeouts timeouts(Section entry) {
    List<Timeouts.ToolTimeout> tools = new ArrayList<>();
    if (entry.node().path("tools").isArray()) {
      return new Timeouts(entry.seconds("timeout"), tools);
    }
    Section perTool = entry.section("tools");
    for (String pattern : perTool.names()) {
      Section tool = perTool.section(pattern);
      if (tool.has("timeout")) {
        tools.add(new Timeouts.ToolTimeout(new Glob(pattern), tool.seconds("timeout")));
      }
    }
    return new Timeouts(entry.seconds("timeout"), tools);
  }

  private static ServerConfig.Supervision supervision(Section entry) {
    return new ServerConfig.Supervision(
        entry.integer("instances"),
        entry.text("start").equals("lazy"),
        entry.seconds("startTimeout"),
        entry.seconds("heartbeat"),
        entry.seconds("maxRestartDelay"),
        entry.integer("maxInFlight"),
        entry.integer("maxQueued"));
  }

  private static ServerConfig.SessionSettings conversation(Section entry) {
    return new ServerConfig.SessionSettings(
        isAdapted(entry) ? Era.LEGACY : ERAS.get(entry.text("era")),
        entry.text("roots").equals("client"),
        entry.text("logLevel"),
        entry.text("hiddenCharacters").equals("remove"));
  }
}
