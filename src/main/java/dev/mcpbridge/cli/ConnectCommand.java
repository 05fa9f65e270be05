package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Adds a running bridge to the file of an MCP client, which keeps everything else in it. */
@Command(
    name = "connect",
    description = "Add a running bridge to the configuration of an MCP client.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The file is shown and changed only after a yes. A key is never written: the",
      "client reads it from MCP_BRIDGE_KEY in its environment. Snippets for other",
      "clients are in the console of the bridge."
    })
final class ConnectCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "CLIENT",
      completionCandidates = Words.class,
      description = "One of ${COMPLETION-CANDIDATES}.")
  private String client;

  @Mixin private BridgeClient bridge;

  @ArgGroup private EndpointChoice endpoint = new EndpointChoice();

  @Option(
      names = {"-n", "--name"},
      paramLabel = "NAME",
      description = "Name in the client (default: the server or%nthe profile, or mcp-bridge).")
  private String name;

  @Option(names = "--with-key", description = "The bridge needs a key.")
  private boolean withKey;

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "The file to change (default: that of the client).")
  private Path file;

  @Option(
      names = {"-y", "--yes"},
      description = "Change it without asking.")
  private boolean yes;

  /** The names of the clients. */
  static final class Words implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Arrays.stream(ClientFile.values()).map(ClientFile::word).iterator();
    }
  }

  @Override
  public Integer call() throws IOException {
    ClientFile known =
        Arrays.stream(ClientFile.values())
            .filter(each -> each.word().equals(client))
            .findFirst()
            .orElseThrow(() -> unknownClient());
    Path target = file == null ? known.path() : file;
    String chosen = endpoint.name() == null ? "mcp-bridge" : endpoint.name();
    String entryName = name == null ? chosen : name;
    ObjectNode entry = known.entry(bridge.base(), endpoint, withKey);
    JsonFile json = new JsonFile(target);
    ObjectNode content = json.read();
    if (content == null
        || content.has(known.section()) && !content.get(known.section()).isObject()) {
      err().println(target + " cannot be changed safely: it is not a plain JSON object.");
      err().println("Add this to '" + known.section() + "' yourself:");
      err().println(JsonFile.text(Json.object().set(entryName, entry)));
      return Main.FAILED;
    }
    JsonNode before = content.path(known.section()).path(entryName);
    if (before.equals(entry)) {
      out().println(target + " has this entry already.");
      return 0;
    }
    json.show(out(), before, entryName, entry);
    if (!yes && !JsonFile.isAgreed(out())) {
      err().println("Nothing was changed.");
      return Main.FAILED;
    }
    content.withObject("/" + known.section()).set(entryName, entry);
    json.write(content);
    out().println("Written. Restart the client if it is running.");
    return 0;
  }

  private ParameterException unknownClient() {
    return new ParameterException(
        spec.commandLine(),
        "Unknown client '" + client + "', expected one of " + String.join(", ", new Words()));
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }
}
