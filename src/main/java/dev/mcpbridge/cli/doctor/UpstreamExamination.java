package dev.mcpbridge.cli.doctor;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.GrpcSource;
import dev.mcpbridge.config.ProcessTarget;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.config.UpstreamTarget;
import java.net.URI;
import java.util.List;

/** Examines whether a server can be started or reached. */
final class UpstreamExamination {
  private UpstreamExamination() {}

  static List<Finding> of(ServerConfig server) {
    String subject = "server " + server.id();
    if (server.refusal() != null) {
      return List.of(
          Finding.problem(subject, "not started: " + server.refusal().reason(), "Correct its entry")
              .sharedAs("not started: its entry is invalid"));
    }
    UpstreamTarget target = server.upstreamTarget();
    if (target instanceof ProcessTarget process) {
      return List.of(program(subject, process));
    }
    if (target instanceof ContainerTarget container) {
      return List.of(
          Finding.ok(subject, container.image() + "; mcp-bridge sandbox check starts a container"));
    }
    URI url = target == null ? null : target.url();
    return url == null || url.getHost() == null ? List.of() : remote(subject, target, url);
  }

  private static Finding program(String subject, ProcessTarget process) {
    String command = process.argv().get(0);
    return process
        .executable(System.getenv("PATH"))
        .map(file -> Finding.ok(subject, file.toString()))
        .orElseGet(
            () ->
                Finding.problem(
                        subject,
                        "the command '" + command + "' is not found, or must not be executed",
                        "Install it, write its whole path, or add PATH to env of the entry")
                    .sharedAs("its command is not found, or must not be executed"));
  }

  private static List<Finding> remote(String subject, UpstreamTarget target, URI url) {
    boolean hasOwnTrust =
        target.access() != null
            && (target.access().trustedCertificates() != null
                || target.access().clientCertificate() != null);
    Reachability reached =
        target instanceof GrpcSource || hasOwnTrust
            ? Reachability.of(url.getHost(), Reachability.port(url))
            : Reachability.ofHttp(url);
    return of(subject, url, reached);
  }

  /** What follows from an attempt to reach an address. */
  static List<Finding> of(String subject, URI url, Reachability reached) {
    if (reached.problem().isPresent()) {
      return List.of(
          Finding.problem(
              subject,
              reached.problem().get(),
              "Check the address, the network between, and proxies or firewalls"));
    }
    Finding found = Finding.ok(subject, Reachability.name(url) + " answers");
    return reached.hasOtherTime()
        ? List.of(
            found,
            Finding.warning(
                "clock",
                "differs from that of %s by %d seconds"
                    .formatted(url.getHost(), reached.skew().get().toSeconds()),
                "Synchronize the clocks: tokens and certificates depend on them"))
        : List.of(found);
  }
}
