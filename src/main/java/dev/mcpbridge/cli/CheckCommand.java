package dev.mcpbridge.cli;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Validates a configuration without starting a bridge. */
@Command(
    name = "check",
    description = "Check a configuration file and report its errors.",
    mixinStandardHelpOptions = true)
final class CheckCommand implements Callable<Integer> {

  @Parameters(arity = "0..1", paramLabel = "FILE", description = ConfigOption.HELP)
  private Path file;

  @Override
  public Integer call() {
    ConfigFile source = ConfigFile.find(file, System.getenv());
    try {
      BridgeConfig config =
          new ConfigReader(System.getenv())
              .read(source.read(), ConfigReader.Strictness.ALL_OR_NOTHING);
      config.warnings().forEach(warning -> System.out.println("warning: " + warning));
      System.out.println(source + ": ok, servers " + config.servers().keySet());
      return 0;
    } catch (ConfigException e) {
      throw ConfigOption.invalid(source, e);
    }
  }
}
