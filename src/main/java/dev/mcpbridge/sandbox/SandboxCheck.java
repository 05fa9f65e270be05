package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.SandboxConfig;
import dev.mcpbridge.config.ServerConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Checks, without a running bridge, that calls at risk level 3 would run as configured. */
public final class SandboxCheck {
  private final ContainerEngine containerEngine;

  /**
   * The result of a check.
   *
   * @param lines text for the user
   * @param isOk whether no problem was found
   */
  public record Report(List<String> lines, boolean isOk) {
    private Report plus(Report other) {
      List<String> both = new ArrayList<>(lines);
      both.addAll(other.lines);
      return new Report(both, isOk && other.isOk);
    }
  }

  public SandboxCheck(Vertx vertx, SandboxConfig config) {
    this.containerEngine = new ContainerEngine(vertx, config.engine(), Labels.own());
  }

  /** Queries the engine, and starts one container for each server that uses containers. */
  public Future<Report> of(Collection<ServerConfig> servers) {
    Future<Report> report = containerEngine.describe().map(lines -> new Report(lines, true));
    for (ServerConfig server : servers) {
      if (server.sandboxPool() != null) {
        report = report.compose(soFar -> check(server).map(soFar::plus));
      }
    }
    return report.otherwise(failure -> new Report(List.of(failure.getMessage()), false));
  }

  private Future<Report> check(ServerConfig server) {
    String name = server.id() + " (" + server.sandboxPool().container().image() + "): ";
    return differences(server)
        .map(
            differences ->
                differences.isEmpty()
                    ? new Report(
                        List.of(name + "a container starts with the configured profile"), true)
                    : new Report(differences.stream().map(name::concat).toList(), false))
        .otherwise(failure -> new Report(List.of(name + failure.getMessage()), false));
  }

  /** Starts a container as for a call; returns how its profile differs from the requested one. */
  private Future<List<String>> differences(ServerConfig server) {
    ContainerTarget requested = server.sandboxPool().container();
    return containerEngine
        .image(requested.image())
        .compose(
            image ->
                containerEngine
                    .create(requested, image, server.id().name())
                    .compose(
                        id ->
                            containerEngine
                                .start(id)
                                .compose(
                                    started -> containerEngine.differences(id, requested, image))
                                .eventually(() -> containerEngine.remove(id))));
  }
}
