package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.config.CodeVariables;
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
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** Further variables with which another program or another source of packages would be used. */
  private static final Pattern STEERING = Pattern.compile("(?i)HOME|SHELL");

  private final Inputs inputs;
  private final List<String> notes = new ArrayList<>();

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
    inputs.environment().forEach(variable -> tellOf(variable, entry));
    if (server.status().equals("deprecated")) {
      notes.add("The registry calls this server deprecated.");
    }
    if (server.status().equals("deleted")) {
      throw refused("The registry has deleted this server");
    }
    return new Entry(entry, notes);
  }

  private void tellOf(String variable, ObjectNode entry) {
    String receiver = entry.has("url") ? entry.path("url").asText() : "the server";
    boolean isSet = System.getenv(variable) != null;
    notes.add(
        "The variable "
            + variable
            + " of the bridge's environment"
            + (isSet ? ", which is set here already," : "")
            + " goes to "
            + receiver
            + ".");
  }

  private static JsonNode chosen(RegistryServer server, String kind) {
    for (JsonNode each : server.document().path("packages")) {
      String type = each.path("registryType").asText();
      boolean isStdio = each.path("transport").path("type").asText("stdio").equals("stdio");
      if (isStdio && PackageKind.of(type) != null && (kind == null || kind.equals(type))) {
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
    PackageKind kind = PackageKind.of(type);
    boolean isImage = kind.isImage();
    String usual = kind.programs().get(0);
    String program = used.path("runtimeHint").asText(usual);
    if (!kind.programs().contains(program)) {
      throw refused(
          "The registry wants to run '"
              + RegistryServer.line(program)
              + "', which is not "
              + usual);
    }
    entry.put("command", program);
    ArrayNode args = entry.putArray("args");
    kind.first().forEach(args::add);
    ObjectNode environment = environment(used);
    if (isImage) {
      environment.fieldNames().forEachRemaining(name -> args.add("-e").add(name));
    }
    List<String> runtime = runtime(used, isImage);
    runtime.forEach(args::add);
    args.add(kind.reference(used));
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

  /** A positional argument before an image would be another image. */
  private List<String> runtime(JsonNode used, boolean isImage) {
    for (JsonNode argument : used.path("runtimeArguments")) {
      if (isImage && !argument.path("type").asText().equals("named")) {
        throw refused("The registry names another image than that of the package");
      }
    }
    return arguments(used.path("runtimeArguments"));
  }

  private void warn(JsonNode used, boolean isImage, List<String> runtime) {
    if (!runtime.isEmpty()) {
      notes.add(
          (isImage
                  ? "What the registry gives the container of this machine, and other options: "
                  : "The registry sets options of the program that runs the package: ")
              + String.join(" ", runtime));
    }
    if (used.has("registryBaseUrl") && !isImage) {
      notes.add(
          "The package is meant to come from "
              + RegistryServer.line(used.path("registryBaseUrl").asText())
              + "; it comes from where the program is set to look.");
    }
    if (used.has("fileSha256")) {
      notes.add("The checksum of the registry is not verified; the package manager has its own.");
    }
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
        throw refused("'" + RegistryServer.line(name) + "' is not the name of a variable");
      }
      if (CodeVariables.contains(name) || STEERING.matcher(name).matches()) {
        throw refused("The registry sets the variable " + name + ", which changes what is run");
      }
      inputs.values(name, variable).forEach(value -> environment.put(name, value));
    }
    return environment;
  }

  private void reach(JsonNode remote, ObjectNode entry) {
    String type = remote.path("type").asText();
    if (!type.equals("streamable-http") && !type.equals("sse")) {
      throw refused(
          "The remote server has the unknown transport '" + RegistryServer.line(type) + "'");
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

  static BridgeException refused(String why) {
    return new BridgeException(ErrorCode.INVALID_SERVER, why);
  }
}
