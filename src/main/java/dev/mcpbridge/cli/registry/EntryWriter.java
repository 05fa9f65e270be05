package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Writes the entry of the configuration that runs or reaches a server of a registry, in exactly the
 * version that was shown. Commands are the usual ones for their kind of package; a registry cannot
 * choose another program.
 */
public final class EntryWriter {
  private static final Map<String, PackageKind> KINDS =
      Map.of(
          "npm",
          new PackageKind(
              List.of("npx"),
              List.of("-y"),
              Pattern.compile("(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][A-Za-z0-9._~-]*")),
          "pypi",
          new PackageKind(List.of("uvx"), List.of(), Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*")),
          "nuget",
          new PackageKind(
              List.of("dnx"), List.of("--yes"), Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*")),
          "oci",
          new PackageKind(
              List.of("docker", "podman"),
              List.of("run", "-i", "--rm"),
              Pattern.compile("[a-z0-9][A-Za-z0-9._/:-]*(@sha256:[0-9a-f]{64})?")));

  private static final Pattern VERSION = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._+-]{0,127}");
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** Arguments of container engines that open the machine to a container. */
  private static final Pattern OPENING =
      Pattern.compile(
          "(-v|--volume|--mount|--privileged|--network|--net|--pid|--ipc|--userns|--device"
              + "|--cap-add|--security-opt|--add-host|-p|--publish)(=.*)?");

  private final Inputs inputs;
  private final List<String> notes = new ArrayList<>();

  /**
   * How packages of one kind are run.
   *
   * @param programs those that run it, the usual one first
   * @param first their first arguments
   * @param identifier what names of packages look like
   */
  private record PackageKind(List<String> programs, List<String> first, Pattern identifier) {}

  /**
   * An entry.
   *
   * @param notes what the operator should know before agreeing
   */
  public record Entry(ObjectNode json, List<String> notes) {}

  private EntryWriter(Map<String, List<String>> given) {
    this.inputs = new Inputs(given);
  }

  /**
   * The entry of a server.
   *
   * @param kind a type of package or {@code remote}; null for the first that can be used
   * @param given values of inputs by name
   * @throws BridgeException INVALID_SERVER with what is missing or refused
   */
  public static Entry write(RegistryServer server, String kind, Map<String, List<String>> given) {
    return new EntryWriter(given).entry(server, kind);
  }

  private Entry entry(RegistryServer server, String kind) {
    ObjectNode entry = Json.object();
    entry.put("description", Inputs.plain(server.name() + " " + server.version()));
    JsonNode used = chosen(server, kind);
    if (used.has("registryType")) {
      run(used, entry);
    } else {
      reach(used, entry);
    }
    inputs.requireComplete();
    if (!inputs.environment().isEmpty()) {
      notes.add("Set in the environment of the bridge: " + String.join(", ", inputs.environment()));
    }
    if (server.status().equals("deprecated")) {
      notes.add("The registry calls this server deprecated.");
    }
    if (server.status().equals("deleted")) {
      throw refused("The registry has deleted this server");
    }
    return new Entry(entry, notes);
  }

  private static JsonNode chosen(RegistryServer server, String kind) {
    for (JsonNode each : server.document().path("packages")) {
      String type = each.path("registryType").asText();
      boolean isStdio = each.path("transport").path("type").asText("stdio").equals("stdio");
      if (isStdio && KINDS.containsKey(type) && (kind == null || kind.equals(type))) {
        return each;
      }
    }
    for (JsonNode each : server.document().path("remotes")) {
      if (kind == null || kind.equals("remote")) {
        return each;
      }
    }
    throw refused(
        "The server has no "
            + (kind == null ? "package or remote" : kind)
            + " that can be used; the registry lists "
            + (server.kinds().isEmpty() ? "nothing" : String.join(", ", server.kinds())));
  }

  private void run(JsonNode used, ObjectNode entry) {
    String type = used.path("registryType").asText();
    PackageKind kind = KINDS.get(type);
    boolean isImage = type.equals("oci");
    String usual = kind.programs().get(0);
    String program = used.path("runtimeHint").asText(usual);
    if (!kind.programs().contains(program)) {
      throw refused("The registry wants to run '" + program + "', which is not " + usual);
    }
    entry.put("command", program);
    ArrayNode args = entry.putArray("args");
    kind.first().forEach(args::add);
    ObjectNode environment = environment(used);
    if (isImage) {
      environment.fieldNames().forEachRemaining(name -> args.add("-e").add(name));
    }
    List<String> runtime = arguments(used.path("runtimeArguments"));
    runtime.forEach(args::add);
    args.add(reference(used, kind, isImage));
    List<String> own = arguments(used.path("packageArguments"));
    if (type.equals("nuget") && !own.isEmpty()) {
      args.add("--");
    }
    own.forEach(args::add);
    if (!environment.isEmpty()) {
      entry.set("env", environment);
    }
    warn(used, isImage, runtime);
  }

  private void warn(JsonNode used, boolean isImage, List<String> runtime) {
    if (isImage) {
      runtime.stream()
          .filter(each -> OPENING.matcher(each).matches())
          .forEach(each -> notes.add("The container gets access to this machine: " + each));
    } else if (!runtime.isEmpty()) {
      notes.add("The registry sets options of the program that runs the package: " + runtime);
    }
    if (used.has("fileSha256")) {
      notes.add("The checksum of the registry is not verified; the package manager has its own.");
    }
  }

  /** The package in its version. */
  private static String reference(JsonNode used, PackageKind kind, boolean isImage) {
    String identifier = used.path("identifier").asText();
    String version = used.path("version").asText();
    if (!kind.identifier().matcher(identifier).matches()) {
      throw refused("'" + identifier + "' is not the name of a package");
    }
    return isImage ? image(identifier, version) : identifier + "@" + pinned(version);
  }

  /** A tag or a digest may be part of the name already. */
  private static String image(String identifier, String version) {
    String last = identifier.substring(identifier.lastIndexOf('/') + 1);
    int tag = last.indexOf(':');
    if (last.contains("@sha256:")) {
      return identifier;
    }
    if (tag >= 0) {
      pinned(last.substring(tag + 1));
      return identifier;
    }
    return identifier + ":" + pinned(version);
  }

  private static String pinned(String version) {
    if (!VERSION.matcher(version).matches() || version.equals("latest")) {
      throw refused("'" + version + "' is not one version of a package");
    }
    return version;
  }

  private List<String> arguments(JsonNode list) {
    List<String> arguments = new ArrayList<>();
    for (JsonNode argument : list) {
      boolean isNamed = argument.path("type").asText().equals("named");
      String flag = Inputs.plain(argument.path("name").asText());
      String name =
          isNamed ? flag.replaceFirst("^-+", "") : argument.path("valueHint").asText("argument");
      if (isNamed && isFlag(argument)) {
        arguments.add(flag);
        continue;
      }
      for (String value : inputs.values(name, argument)) {
        if (isNamed) {
          arguments.add(flag);
        }
        arguments.add(value);
      }
    }
    return arguments;
  }

  /** Whether it has no value, and must be there. */
  private static boolean isFlag(JsonNode argument) {
    return argument.path("isRequired").asBoolean()
        && !argument.has("value")
        && !argument.has("default")
        && !argument.has("choices")
        && !argument.has("format")
        && !argument.path("isSecret").asBoolean();
  }

  private ObjectNode environment(JsonNode used) {
    ObjectNode environment = Json.object();
    for (JsonNode variable : used.path("environmentVariables")) {
      String name = variable.path("name").asText();
      if (!NAME.matcher(name).matches()) {
        throw refused("'" + name + "' is not the name of a variable");
      }
      inputs.values(name, variable).forEach(value -> environment.put(name, value));
    }
    return environment;
  }

  private void reach(JsonNode remote, ObjectNode entry) {
    String type = remote.path("type").asText();
    if (!type.equals("streamable-http") && !type.equals("sse")) {
      throw refused("The remote server has the unknown transport '" + type + "'");
    }
    String url = inputs.substituted(remote.path("url").asText(), remote.path("variables"));
    if (!url.startsWith("https://")) {
      throw refused("The remote server is not at an https URL: " + url);
    }
    entry.put("type", type.equals("sse") ? "sse" : "http").put("url", url);
    ObjectNode headers = Json.object();
    for (JsonNode header : remote.path("headers")) {
      String name = Inputs.plain(header.path("name").asText());
      inputs.values(name, header).forEach(value -> headers.put(name, value));
    }
    if (!headers.isEmpty()) {
      entry.set("headers", headers);
    }
  }

  private static BridgeException refused(String why) {
    return new BridgeException(ErrorCode.INVALID_SERVER, why);
  }
}
