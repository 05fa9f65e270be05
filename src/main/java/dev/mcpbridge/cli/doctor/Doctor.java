package dev.mcpbridge.cli.doctor;

import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ClusterConfig;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.StateFolder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Examines what a bridge with a configuration needs. Starts and changes nothing. Blocks. */
public final class Doctor {
  private static final int AT_ONCE = 16;
  private static final Set<PosixFilePermission> FOREIGN =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private final BridgeConfig config;
  private final ConfigFile file;
  private final Map<String, String> environment;

  public Doctor(BridgeConfig config, ConfigFile file, Map<String, String> environment) {
    this.config = config;
    this.file = file;
    this.environment = environment;
  }

  /** All findings: of the machine, then of what the bridge listens on, writes to and connects. */
  public List<Finding> examine() throws InterruptedException {
    List<Callable<List<Finding>>> examinations = new ArrayList<>();
    examinations.add(() -> List.of(file(file)));
    examinations.add(
        () -> MachineExamination.of(config.http().maxConnections(), config.servers().size()));
    examinations.add(() -> ListenerExamination.of(config.http()));
    examinations.add(this::folders);
    config
        .servers()
        .values()
        .forEach(server -> examinations.add(() -> UpstreamExamination.of(server)));
    config
        .auth()
        .issuers()
        .forEach(
            issuer -> examinations.add(() -> reach("issuer " + issuer.name(), issuer.issuer())));
    config
        .webhooks()
        .forEach(webhook -> examinations.add(() -> reach("webhook", webhook.url().toString())));
    if (config.telemetry().endpoint() != null) {
      examinations.add(() -> reach("telemetry.otlp", config.telemetry().endpoint()));
    }
    if (config.cluster() != null) {
      examinations.addAll(cluster(config.cluster()));
    }
    return inParallel(examinations);
  }

  private static List<Finding> inParallel(List<Callable<List<Finding>>> examinations)
      throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Finding> findings = new ArrayList<>();
      for (Future<List<Finding>> each : threads.invokeAll(examinations)) {
        findings.addAll(found(each));
      }
      return findings;
    } finally {
      threads.shutdownNow();
    }
  }

  /** Who can write the file decides which programs the bridge starts. */
  private static Finding file(ConfigFile file) {
    String subject = "configuration";
    try {
      boolean isOpen =
          file.path() != null
              && Files.getPosixFilePermissions(file.path()).stream().anyMatch(FOREIGN::contains);
      return isOpen
          ? Finding.warning(
              subject,
              file + " can be written by other users",
              "Run: chmod go-w " + file + "; they could start programs as the bridge's user")
          : Finding.ok(subject, file.toString());
    } catch (IOException | UnsupportedOperationException e) {
      return Finding.ok(subject, file.toString());
    }
  }

  /** What cannot be examined does not keep the other findings from being told. */
  private static List<Finding> found(Future<List<Finding>> examination)
      throws InterruptedException {
    try {
      return examination.get();
    } catch (ExecutionException e) {
      return List.of(
          Finding.problem(
                  "examination",
                  "failed: " + e.getCause(),
                  "Check the URLs and addresses of the configuration")
              .sharedAs("failed: " + e.getCause().getClass().getName()));
    }
  }

  private List<Finding> folders() {
    List<Finding> findings = new ArrayList<>();
    Path state = StateFolder.of(environment);
    findings.add(FolderExamination.of("state", state));
    AuditConfig audit = config.audit();
    if (audit != null && audit.folder() != null) {
      findings.add(FolderExamination.of("audit.folder", audit.folder()));
    }
    Path credentials = config.credentials().file();
    if (credentials != null) {
      findings.add(
          FolderExamination.of("credentials.file", credentials.toAbsolutePath().getParent()));
    }
    return findings;
  }

  private static List<Finding> reach(String subject, String url) {
    URI at = URI.create(url);
    return UpstreamExamination.of(subject, at, Reachability.ofHttp(at));
  }

  private static List<Callable<List<Finding>>> cluster(ClusterConfig cluster) {
    Stream<Callable<List<Finding>>> members =
        cluster.members().stream()
            .filter(member -> !member.equals(cluster.address()))
            .map(member -> () -> List.of(member(member)));
    Stream<Callable<List<Finding>>> certificate =
        cluster.tls() == null
            ? Stream.of()
            : Stream.of(
                () ->
                    List.of(
                        CertificateExamination.of(
                            "cluster.tls.cert", cluster.tls().certificate(), Instant.now())));
    return Stream.concat(certificate, members).toList();
  }

  private static Finding member(String address) {
    int colon = address.lastIndexOf(':');
    Reachability reached =
        Reachability.of(
            address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    return reached
        .problem()
        .map(
            problem ->
                Finding.warning(
                    "node " + address, problem, "Start it; a majority of the nodes must be up"))
        .orElseGet(() -> Finding.ok("node " + address, "answers"));
  }
}
