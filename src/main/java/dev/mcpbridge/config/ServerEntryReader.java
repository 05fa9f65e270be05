package dev.mcpbridge.config;

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Understands one entry of {@code mcpServers}, from the file or from the API. Stateless. */
final class ServerEntryReader {
  private static final List<String> EVERYWHERE =
      List.of(
          "command",
          "args",
          "env",
          "cwd",
          "riskLevel",
          "risk",
          "docker",
          "timeout",
          "tools",
          "startTimeout",
          "heartbeat",
          "maxRestartDelay",
          "start",
          "instances",
          "maxInFlight",
          "maxQueued",
          "logLevel",
          "era",
          "roots",
          "hiddenCharacters",
          "isolation",
          "placement",
          "maxSessions",
          "sessionIdle");

  /** What a request may not say: it would let the bridge reach where its operator did not mean. */
  private static final List<String> FILE_ONLY =
      Stream.concat(
              Stream.of(
                  "builtin",
                  "disabled",
                  "type",
                  "description",
                  "url",
                  "headers",
                  "tls",
                  "toolsFile",
                  "toolsUrl"),
              OpenApiEntry.KEYS.stream())
          .toList();

  static final List<String> KEYS = Stream.concat(EVERYWHERE.stream(), FILE_ONLY.stream()).toList();
  static final List<String> KEYS_OF_API =
      Stream.concat(Stream.of("id"), EVERYWHERE.stream()).toList();

  private static final List<String> REACHES = List.of("builtin", "command", "url");

  private static final Map<String, Era> ERAS =
      Map.of("auto", Era.UNKNOWN, "legacy", Era.LEGACY, "modern", Era.STATELESS);
  private static final List<String> ADAPTED = List.of("openapi", "toolcall");
  private static final int MAX_ARGS = 1000;
  private static final int MAX_TEXT = 100_000;
  private static final List<String> UNSAFE_VARIABLES =
      List.of(
          "PATH",
          "IFS",
          "ENV",
          "BASH_ENV",
          "NODE_OPTIONS",
          "JAVA_TOOL_OPTIONS",
          "JDK_JAVA_OPTIONS",
          "_JAVA_OPTIONS",
          "PERL5OPT",
          "RUBYOPT",
          "HTTP_PROXY",
          "HTTPS_PROXY",
          "ALL_PROXY");
  private static final List<String> UNSAFE_PREFIXES =
      List.of("LD_", "DYLD_", "PYTHON", "GIT_", "DOCKER_", "MCP_BRIDGE_");

  private ServerEntryReader() {}

  /** Who wrote an entry: the operator's file is trusted with more than a request. */
  enum Origin {
    FILE,
    API
  }

  /** Reads an entry; what is wrong is added to the section's problems. */
  static ServerConfig read(String name, Section entry, Origin origin, SandboxConfig limits) {
    checkName(name, entry);
    checkReach(entry);
    RiskRules risk = risk(entry);
    ServerConfig.Supervision supervision = supervision(entry);
    SandboxPool sandboxPool = sandbox(entry, risk, supervision.startTimeout(), origin, limits);
    UpstreamTarget upstreamTarget =
        sandboxPool != null
            ? sandboxPool.container()
            : isElsewhere(entry, origin) ? elsewhere(entry) : launch(entry, origin);
    ServerId id = new ServerId(ServerId.isValid(name) ? name : "invalid");
    return new ServerConfig(
        id,
        upstreamTarget,
        risk,
        timeouts(entry),
        supervision,
        conversation(entry),
        isolation(entry),
        sandboxPool,
        entry.texts("placement", 100),
        null,
        EntryDigests.program(entry.node(), upstreamTarget),
        EntryDigests.whole(entry.node(), upstreamTarget));
  }

  /** An entry that is wrong, as a server that says so instead of running. */
  static ServerConfig refused(String name, Section entry, String reason) {
    ProcessTarget nothing = new ProcessTarget(List.of("refused"), Map.of(), null);
    return new ServerConfig(
        new ServerId(name),
        nothing,
        RiskRules.NONE,
        new Timeouts(60_000, List.of()),
        new ServerConfig.Supervision(1, true, 30_000, 0, 1000, 1, 1),
        new ServerConfig.Conversation(Era.UNKNOWN, false, null, false),
        null,
        null,
        List.of(),
        new ServerState.Refused(ErrorCode.SERVER_UNAVAILABLE, reason),
        "",
        EntryDigests.whole(entry.node(), nothing) + reason);
  }

  private static void checkName(String name, Section entry) {
    if (!ServerId.isValid(name)) {
      entry.complain(
          "",
          "a server id is 1 to 63 letters, digits, '_', '.' or '-' and starts with a letter or a"
              + " digit");
    }
  }

  /** How a server is reached is said in one way. */
  private static void checkReach(Section entry) {
    List<String> said = REACHES.stream().filter(entry::has).toList();
    if (said.size() > 1) {
      entry.complain(
          said.get(said.size() - 1),
          "an entry has one of "
              + String.join(" and ", said)
              + ": the bridge starts a command itself, a url runs elsewhere");
    }
    String type = entry.node().path("type").asText();
    if (ADAPTED.contains(type) && (entry.has("command") || entry.has("builtin"))) {
      entry.complain("type", "what is of the type " + type + " has no command");
    }
  }

  /** Whether somebody else runs it. */
  private static boolean isElsewhere(Section entry, Origin origin) {
    boolean isAdapted = ADAPTED.contains(entry.node().path("type").asText());
    return origin == Origin.FILE && !entry.has("command") && (entry.has("url") || isAdapted);
  }

  private static UpstreamTarget elsewhere(Section entry) {
    return switch (entry.text("type", "http")) {
      case "openapi" -> OpenApiEntry.read(entry);
      case "toolcall" -> ToolCallEntry.read(entry);
      default -> RemoteEntry.read(entry);
    };
  }

  private static ProcessTarget launch(Section entry, Origin origin) {
    Map<String, Secret> environment = new LinkedHashMap<>();
    entry
        .textsByName("env")
        .forEach(
            (name, value) -> {
              checkVariable(entry, name, value, origin);
              environment.put(name, new Secret(value));
            });
    List<String> argv = new ArrayList<>(program(entry, origin));
    argv.addAll(entry.texts("args", MAX_ARGS));
    if (argv.stream().anyMatch(arg -> arg.indexOf('\0') >= 0 || arg.length() > MAX_TEXT)) {
      entry.complain("args", "an argument holds a NUL or is longer than " + MAX_TEXT);
    }
    return new ProcessTarget(argv, environment, directory(entry));
  }

  private static List<String> program(Section entry, Origin origin) {
    if (origin == Origin.FILE && entry.has("builtin")) {
      String builtin = entry.oneOf("builtin", "git", "git");
      return Builtin.commandOf(builtin);
    }
    String command = entry.text("command", "");
    if (command.isBlank() && entry.has("docker") && origin == Origin.FILE) {
      return List.of();
    }
    if (command.isBlank()) {
      String hint = origin == Origin.FILE ? ", or a url" : "";
      entry.complain("command", "expected the program to start" + hint);
    } else if (origin == Origin.API && command.contains("/") && !command.startsWith("/")) {
      entry.complain("command", "expected a name or an absolute path");
    } else if (command.length() > 4096) {
      entry.complain("command", "longer than 4096 characters");
    }
    return List.of(command);
  }

  private static Path directory(Section entry) {
    String directory = entry.text("cwd", null);
    if (directory == null) {
      return null;
    }
    Path path = Section.path(directory);
    if (path == null || !Files.isDirectory(path)) {
      entry.complain("cwd", "no such directory: " + directory);
    }
    return path;
  }

  private static void checkVariable(Section entry, String name, String value, Origin origin) {
    boolean malformed = !name.matches("[^=\\s\\p{Cntrl}]+") || value.indexOf('\0') >= 0;
    if (malformed || value.length() > MAX_TEXT) {
      entry.complain("env." + name, "not a variable that a process can have");
    }
    String upper = name.toUpperCase(Locale.ROOT);
    boolean unsafe =
        UNSAFE_VARIABLES.contains(upper) || UNSAFE_PREFIXES.stream().anyMatch(upper::startsWith);
    if (unsafe && origin == Origin.API) {
      entry.complain("env." + name, "only the configuration file may set it");
    }
  }

  private static RiskRules risk(Section entry) {
    Section risk = entry.section("risk");
    risk.allowOnly(List.of("tools", "resources", "prompts", "fromMethods", "annotations"));
    List<RiskRules.ToolRule> tools = new ArrayList<>();
    Section rules = risk.section("tools");
    rules.each(
        (pattern, value) -> {
          RiskLevel level = level(rules, pattern);
          if (level != null) {
            tools.add(new RiskRules.ToolRule(new Glob(pattern), level));
          }
        });
    return new RiskRules(
        level(entry, "riskLevel"),
        tools,
        level(risk, "resources"),
        level(risk, "prompts"),
        risk.flag("fromMethods", false),
        annotations(risk));
  }

  /** Null where nothing is said about them. */
  static DestructiveToolPolicy annotations(Section risk) {
    String said = risk.oneOf("annotations", null, "raise", "ignore");
    return said == null
        ? null
        : said.equals("raise") ? DestructiveToolPolicy.RAISE : DestructiveToolPolicy.IGNORE;
  }

  static RiskLevel level(Section section, String key) {
    return RiskLevel.of(section.integer(key, 0, 1, 3)).orElse(null);
  }

  /** Level 3 is never run on the host, so a server at it needs a container. */
  private static SandboxPool sandbox(
      Section entry, RiskRules risk, long startMillis, Origin origin, SandboxConfig limits) {
    if (risk.server() != RiskLevel.HIGH && !entry.has("docker")) {
      return null;
    }
    if (isElsewhere(entry, origin)) {
      entry.complain("docker", "a server that runs elsewhere runs in no container here");
      return null;
    }
    if (origin == Origin.API) {
      refuseAbove(entry, "instances", entry.integer("instances", 1, 1, 64), limits);
      refuseAbove(entry, "maxSessions", entry.integer("maxSessions", 1, 1, 10_000), limits);
    }
    return ContainerEntry.read(
        entry.section("docker"), launch(entry, origin), startMillis, origin, limits);
  }

  private static void refuseAbove(Section entry, String key, int containers, SandboxConfig limits) {
    if (containers > limits.ceiling().pool()) {
      entry.complain(key, "more containers than sandbox.limits.pool allows");
    }
  }

  private static Timeouts timeouts(Section entry) {
    List<Timeouts.ToolTimeout> tools = new ArrayList<>();
    if (entry.node().path("tools").isArray()) {
      return new Timeouts(entry.seconds("timeout", 60, 0.01, 86_400), tools);
    }
    Section exceptions = entry.section("tools");
    exceptions.each(
        (pattern, value) -> {
          Section tool = exceptions.section(pattern);
          tool.allowOnly(List.of("timeout", "name", "description"));
          if (tool.has("timeout")) {
            tools.add(
                new Timeouts.ToolTimeout(
                    new Glob(pattern), tool.seconds("timeout", 60, 0.01, 86_400)));
          }
        });
    return new Timeouts(entry.seconds("timeout", 60, 0.01, 86_400), tools);
  }

  private static ServerConfig.Supervision supervision(Section entry) {
    return new ServerConfig.Supervision(
        entry.integer("instances", 1, 1, 64),
        entry.oneOf("start", "eager", "eager", "lazy").equals("lazy"),
        entry.seconds("startTimeout", 30, 0.1, 600),
        entry.seconds("heartbeat", 15, 0, 3600),
        entry.seconds("maxRestartDelay", 120, 0.2, 3600),
        entry.integer("maxInFlight", 128, 1, 10_000),
        entry.integer("maxQueued", 1024, 0, 100_000));
  }

  private static ServerConfig.Conversation conversation(Section entry) {
    boolean isAdapted = ADAPTED.contains(entry.node().path("type").asText());
    return new ServerConfig.Conversation(
        isAdapted ? Era.LEGACY : ERAS.get(entry.oneOf("era", "auto", "auto", "legacy", "modern")),
        entry.oneOf("roots", "client", "client", "none").equals("client"),
        entry.oneOf(
            "logLevel",
            null,
            "debug",
            "info",
            "notice",
            "warning",
            "error",
            "critical",
            "alert",
            "emergency"),
        entry.oneOf("hiddenCharacters", "flag", "flag", "remove").equals("remove"));
  }

  private static ServerConfig.Isolation isolation(Section entry) {
    int maxSessions = entry.integer("maxSessions", 32, 1, 10_000);
    long idle = entry.seconds("sessionIdle", 1800, 0.1, 86_400);
    boolean isShared = entry.oneOf("isolation", "shared", "shared", "session").equals("shared");
    if (!isShared && entry.integer("instances", 1, 1, 64) > 1) {
      entry.complain("instances", "a session has one process of its own");
    }
    return isShared ? null : new ServerConfig.Isolation(maxSessions, idle);
  }
}
