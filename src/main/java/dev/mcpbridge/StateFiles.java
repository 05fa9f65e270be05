package dev.mcpbridge;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.CredentialsConfig;
import dev.mcpbridge.config.StateFolder;
import dev.mcpbridge.credentials.CredentialFile;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.quota.QuotaFile;
import dev.mcpbridge.quota.Quotas;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;

/**
 * What a bridge keeps across a restart, named by its port: a bridge at an arbitrary port does not
 * come again, so it keeps nothing unless a file is configured.
 */
final class StateFiles {
  private final Vertx vertx;
  private final Cluster cluster;
  private final BridgeConfig config;
  private final Quotas quotas;
  private volatile QuotaFile quotaFile;
  private volatile CredentialFile credentialFile;

  StateFiles(Vertx vertx, Cluster cluster, BridgeConfig config, Quotas quotas) {
    this.vertx = vertx;
    this.cluster = cluster;
    this.config = config;
    this.quotas = quotas;
  }

  /** Reads the files, and keeps them up to date. Fails if credentials cannot be opened. */
  Future<Void> keep(int port) {
    return vertx.executeBlocking(() -> keepQuotas(port), false).compose(kept -> credentials(port));
  }

  private Void keepQuotas(int port) {
    if (config.http().hasFixedPort()) {
      quotaFile = new QuotaFile(quotas, folder().resolve("quotas-" + port + ".json"));
      quotaFile.keep(vertx);
    }
    return null;
  }

  /** Only if keys seal them; a cluster keeps them in its store. */
  private Future<Void> credentials(int port) {
    CredentialsConfig settings = config.credentials();
    boolean hasFile = settings.file() != null || config.http().hasFixedPort();
    if (settings.keys().isEmpty() || !cluster.isAlone() || !hasFile) {
      return Future.succeededFuture();
    }
    Path file =
        settings.file() == null
            ? folder().resolve("credentials-" + port + ".json")
            : settings.file();
    credentialFile = CredentialStore.file(vertx, settings, cluster, file);
    return credentialFile.keep();
  }

  /** The folder of the audit trail. */
  static Path auditFolder(BridgeConfig config) {
    String name = config.http().hasFixedPort() ? "audit-" + config.http().port() : "audit";
    return config.audit().folder() != null ? config.audit().folder() : folder().resolve(name);
  }

  private static Path folder() {
    return StateFolder.of(System.getenv());
  }

  /** Completes when everything is written. */
  Future<Void> written() {
    return vertx
        .executeBlocking(() -> quotaFile == null ? null : quotaFile.write(), false)
        .transform(
            done -> credentialFile == null ? Future.succeededFuture() : credentialFile.written());
  }
}
