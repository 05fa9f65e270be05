package dev.mcpbridge.cli;

import dev.mcpbridge.agent.BridgeHttp;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Asks a running bridge whether it can work, for supervisors that have no HTTP client. */
@Command(
    name = "health",
    description = "Ask a running bridge whether it is ready.",
    mixinStandardHelpOptions = true,
    footer = {"", "The exit code is 1 if it is not, or does not answer."})
final class HealthCommand implements Callable<Integer> {
  @Mixin private BridgeClient bridge;

  @Option(names = "--live", description = "Only whether it answers, even if servers are starting.")
  private boolean live;

  @Override
  public Integer call() throws InterruptedException {
    BridgeHttp.Response response = bridge.getSoon(live ? "/health/live" : "/health/ready");
    System.out.println(response.body().path("status").asText(response.body().toString()));
    return response.ok() ? 0 : Main.FAILED;
  }
}
