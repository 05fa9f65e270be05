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
  private static final int UNAUTHORIZED = 401;

  @Mixin private BridgeClient bridge;

  @Option(
      names = "--live",
      description =
          "Only whether it answers, even if servers are starting%nor it wants an API key.")
  private boolean live;

  @Override
  public Integer call() throws InterruptedException {
    BridgeHttp.Response response = bridge.getSoon(live ? "/health/live" : "/health/ready");
    boolean isLive = live && (response.ok() || response.status() == UNAUTHORIZED);
    String status = response.body().path("status").asText();
    System.out.println(isLive ? "ok" : response.body().path("detail").asText(status));
    return isLive || response.ok() ? 0 : Main.FAILED;
  }
}
