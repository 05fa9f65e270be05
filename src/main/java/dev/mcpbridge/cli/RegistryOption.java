package dev.mcpbridge.cli;

import dev.mcpbridge.cli.registry.Registry;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The registry of MCP servers that a command reads. */
final class RegistryOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = {"-r", "--registry"},
      paramLabel = "URL|FILE",
      defaultValue = "${env:MCP_BRIDGE_REGISTRY}",
      description =
          "A registry, or a file with what it answers or with%none server.json (default:"
              + " MCP_BRIDGE_REGISTRY in the%nenvironment).")
  private String location;

  Registry registry() {
    if (location == null || location.isBlank()) {
      throw new ParameterException(
          spec.commandLine(),
          "Name a registry with --registry or MCP_BRIDGE_REGISTRY: a URL, or a file");
    }
    return Registry.at(location);
  }
}
