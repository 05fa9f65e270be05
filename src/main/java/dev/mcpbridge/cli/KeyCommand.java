package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** API keys. */
@Command(
    name = "key",
    description = "Create API keys.",
    mixinStandardHelpOptions = true,
    subcommands = KeyCommand.New.class)
final class KeyCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "Missing subcommand; use: mcp-bridge key new NAME");
  }

  /** Prints a new key and its configuration entry, which contains only a hash of the key. */
  @Command(
      name = "new",
      description = "Create a key and the entry of auth.keys that accepts it.",
      mixinStandardHelpOptions = true)
  static final class New implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "NAME", description = "Name of the holder of the key.")
    private String name;

    @Option(
        names = "--scopes",
        split = ",",
        paramLabel = "SCOPE,...",
        hideParamSyntax = true,
        defaultValue = "read,call",
        description = "read, call, approve, admin, audit%n(default: ${DEFAULT-VALUE}).")
    private List<String> scopes;

    @Option(
        names = "--roles",
        split = ",",
        paramLabel = "ROLE,...",
        hideParamSyntax = true,
        description = "Roles of the holder.")
    private List<String> roles = List.of();

    @Override
    public Integer call() {
      if (!Scope.names().containsAll(scopes)) {
        throw new ParameterException(
            spec.commandLine(), "Unknown scope; valid scopes are " + new TreeSet<>(Scope.names()));
      }
      String key = ApiKeys.generate();
      ObjectNode entry = Json.object().put("name", name).put("sha256", ApiKeys.fingerprint(key));
      scopes.forEach(entry.putArray("scopes")::add);
      if (!roles.isEmpty()) {
        roles.forEach(entry.putArray("roles")::add);
      }
      System.out.println("key, shown only once: " + key);
      System.out.println("entry for auth.keys:  " + entry);
      return 0;
    }
  }
}
