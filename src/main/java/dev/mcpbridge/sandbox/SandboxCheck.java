package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.SandboxConfig;
import dev.mcpbridge.config.ServerConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Proves, without a bridge that runs, that calls at risk level 3 would run as they should. */
public final class SandboxCheck {
  private final ContainerEngine containerEngine;

  /**
   * What was found.
   *
   * @param lines for a human
   * @param isWell whether all is as it should be
   */
  public record Report(List<String> lines, boolean isWell) {
    private Report plus(Report other) {
      List<String> both = new ArrayList<>(lines);
      both.addAll(other.lines);
      return new Report(both, isWell && other.isWell);
    }
  }

  public SandboxCheck(Vertx vertx, SandboxConfig config) {
    this.containerEngine = new ContainerEngine(vertx, config.engine(), Labels.own());
  }

  /** Asks what the engine is, and starts one container for each server that has one. */
  public Future<Report> of(Collection<ServerConfig> servers) {
    return described()
        .compose(
            engine ->
                engine.isWell() ? allProven(engine, servers) : Future.succeededFuture(engine));
  }

  private Future<Report> allProven(Report engine, Collection<ServerConfig> servers) {
    Future<Report> report = Future.succeededFuture(engine);
    for (ServerConfig server : servers) {
      if (server.sandboxPool() != null) {
        report = report.compose(soFar -> proven(server).map(soFar::plus));
      }
    }
    return report;
  }

  private Future<Report> described() {
    return containerEngine
        .describe()
        .map(
            facts ->
                facts.entrySet().stream()
                    .map(fact -> fact.getKey() + ": " + fact.getValue())
                    .toList())
        .map(lines -> new Report(lines, true))
        .otherwise(failure -> new Report(List.of(failure.getMessage()), false));
  }

  private Future<Report> proven(ServerConfig server) {
    String name = server.id() + " (" + server.sandboxPool().container().image() + "): ";
    return differences(server)
        .map(
            differences ->
                differences.isEmpty()
                    ? new Report(
                        List.of(name + "a container starts, and has the profile it should have"),
                        true)
                    : new Report(differences.stream().map(name::concat).toList(), false))
        .otherwise(failure -> new Report(List.of(name + failure.getMessage()), false));
  }

  /** Where a container that was started as a server would have it is not as it was asked for. */
  private Future<List<String>> differences(ServerConfig server) {
    ContainerTarget asked = server.sandboxPool().container();
    return containerEngine
        .image(asked.image())
        .compose(
            image ->
                containerEngine
                    .create(asked, image, server.id().name())
                    .compose(
                        id ->
                            containerEngine
                                .start(id)
                                .compose(started -> containerEngine.differences(id, asked, image))
                                .eventually(() -> containerEngine.remove(id))));
  }
}
