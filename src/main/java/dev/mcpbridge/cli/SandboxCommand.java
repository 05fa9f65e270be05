package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.sandbox.SandboxCheck;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Commands for the containers of risk level 3. */
@Command(
    name = "sandbox",
    description = "Inspect the containers that calls at risk level 3 run in.",
    mixinStandardHelpOptions = true,
    subcommands = SandboxCommand.Check.class)
final class SandboxCommand {

  /** Checks that calls at level 3 would run with the required isolation. */
  @Command(
      name = "check",
      description =
          "Show the container engine and check that a container of each server has its profile.",
      mixinStandardHelpOptions = true,
      footer = {"", "The engine is sandbox.engine of the configuration, else DOCKER_HOST."})
  static final class Check implements Callable<Integer> {
    @Mixin private ConfigOption configuration;

    @Override
    public Integer call() throws Exception {
      LogLineFormatter.configure(LogLineFormatter.Threshold.WARNING);
      BridgeConfig config = configuration.read();
      SandboxCheck.Report report = Bridge.checkSandbox(config);
      report.lines().forEach(System.out::println);
      return report.isOk() ? 0 : Main.FAILED;
    }
  }
}
