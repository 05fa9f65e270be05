package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.sandbox.SandboxCheck;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
      SandboxCheck.Report report = check(configuration.read());
      report.lines().forEach(System.out::println);
      return report.isOk() ? 0 : Main.FAILED;
    }

    private static SandboxCheck.Report check(BridgeConfig config) throws TimeoutException {
      Vertx vertx = Bridge.vertx();
      try {
        return new SandboxCheck(vertx, config.sandbox())
            .of(config.servers().values())
            .await(5, TimeUnit.MINUTES);
      } finally {
        vertx.close().await(10, TimeUnit.SECONDS);
      }
    }
  }
}
