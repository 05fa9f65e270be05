package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.cli.registry.EntryWriter;
import dev.mcpbridge.cli.registry.RegistryServer;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.HiddenCharacters;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Adds a server of a registry to the configuration. */
@Command(
    name = "add",
    description = "Add a server of a registry to the configuration.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The entry is shown and written only after a yes, in exactly the version",
      "that was shown. Secrets stay in the environment of the bridge."
    })
final class AddCommand implements Callable<Integer> {
  private static final Path NEW_FILE = Path.of("conf", "bridge.json");
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{env:([A-Za-z0-9_]+)}");

  @Spec private CommandSpec spec;
  @Mixin private RegistryOption source;

  @Parameters(
      paramLabel = "NAME[@VERSION]",
      description = "As mcp-bridge search finds it (default:%nthe latest version).")
  private String server;

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "The configuration (default: as of serve).")
  private Path file;

  @Option(
      names = {"-n", "--name"},
      paramLabel = "NAME",
      description = "Name in the configuration (default: the last%npart of the server's name).")
  private String entryName;

  @Option(
      names = {"-k", "--kind"},
      paramLabel = "KIND",
      description = "npm, pypi, nuget, oci or remote (default: the%nfirst that can be used).")
  private String kind;

  @Option(
      names = {"-s", "--set"},
      paramLabel = "INPUT=VALUE",
      description = "A value that the server needs; may be repeated.")
  private List<String> settings = new ArrayList<>();

  @Option(names = "--replace", description = "Replace an entry of this name.")
  private boolean replaces;

  @Option(
      names = {"-y", "--yes"},
      description = "Write it without asking.")
  private boolean yes;

  @Override
  public Integer call() throws IOException {
    int at = server.lastIndexOf('@');
    RegistryServer found =
        source
            .registry()
            .find(
                at < 0 ? server : server.substring(0, at),
                at < 0 || server.endsWith("@latest") ? null : server.substring(at + 1));
    EntryWriter.Entry entry = EntryWriter.write(found, kind, given());
    String name = entryName == null ? ownName(found.name()) : entryName;
    ConfigFile config = ConfigFile.find(file, System.getenv());
    JsonFile json = new JsonFile(config.path() == null ? NEW_FILE : config.path());
    ObjectNode content = json.read();
    if (content == null) {
      throw failed(json.path() + " is not a JSON object");
    }
    String key = content.has("servers") && !content.has("mcpServers") ? "servers" : "mcpServers";
    JsonNode before = content.path(key).path(name);
    if (before.equals(entry.json())) {
      out().println(json.path() + " has this entry already.");
      return 0;
    }
    if (!before.isMissingNode() && !replaces) {
      throw failed(json.path() + " has another entry '" + name + "': use --name, or --replace");
    }
    content.withObject("/" + key).set(name, entry.json());
    requireValid(content, key + "." + name);
    show(found, json, before, name, entry);
    if (!yes && !JsonFile.isAgreed(out())) {
      err().println("Nothing was changed.");
      return Main.FAILED;
    }
    json.write(content);
    out().println("Written. A running bridge starts the server within a second.");
    return 0;
  }

  private Map<String, List<String>> given() {
    Map<String, List<String>> given = new LinkedHashMap<>();
    for (String setting : settings) {
      int mark = setting.indexOf('=');
      if (mark <= 0) {
        throw new ParameterException(
            spec.commandLine(), "--set needs INPUT=VALUE, found " + setting);
      }
      given
          .computeIfAbsent(setting.substring(0, mark), input -> new ArrayList<>())
          .add(setting.substring(mark + 1));
    }
    return given;
  }

  /** The last part of a name, of what names of servers may have. */
  private static String ownName(String name) {
    String last = name.substring(name.lastIndexOf('/') + 1);
    String allowed = last.replaceAll("[^A-Za-z0-9_.-]", "-").replaceFirst("^[^A-Za-z0-9]+", "");
    return allowed.isEmpty() ? "server" : allowed.substring(0, Math.min(63, allowed.length()));
  }

  /** Requires that the new entry is valid; variables that are not set yet are no problem. */
  private static void requireValid(ObjectNode content, String path) {
    Map<String, String> environment = new HashMap<>(System.getenv());
    Matcher references = REFERENCE.matcher(content.toString());
    while (references.find()) {
      environment.putIfAbsent(references.group(1), "unset");
    }
    try {
      new ConfigReader(environment)
          .read(content.toString(), ConfigReader.Strictness.ALL_OR_NOTHING);
    } catch (ConfigException e) {
      String problems =
          e.problems().stream()
              .filter(problem -> (problem.path() + ".").startsWith(path + "."))
              .map(Object::toString)
              .collect(Collectors.joining(System.lineSeparator()));
      if (!problems.isEmpty()) {
        throw failed(problems);
      }
    }
  }

  private void show(
      RegistryServer found, JsonFile json, JsonNode before, String name, EntryWriter.Entry entry) {
    out().println(found.name() + " " + found.version());
    out().println("  " + found.description());
    json.show(out(), before, name, entry.json());
    entry.notes().forEach(note -> out().println(HiddenCharacters.escaped("! " + note)));
  }

  private static BridgeException failed(String why) {
    return new BridgeException(ErrorCode.INVALID_SERVER, why);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }
}
