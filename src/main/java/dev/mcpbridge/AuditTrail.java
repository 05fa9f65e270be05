package dev.mcpbridge;

import dev.mcpbridge.audit.AuditLog;
import dev.mcpbridge.audit.AuditVerticle;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.EventLoop.Deployment;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Future;
import java.nio.file.Path;

/**
 * The audit trail of a bridge, from its first record to its last; nothing if none is configured.
 */
final class AuditTrail {
  private final Host host;
  private final Bus bus;
  private final BridgeConfig config;
  private final String node;
  private volatile Deployment deployed;

  /**
   * @param node name of the node; null for a single node
   */
  AuditTrail(Host host, Bus bus, BridgeConfig config, String node) {
    this.host = host;
    this.bus = bus;
    this.config = config;
    this.node = node;
  }

  /** Opens it before anything else. Fails if it cannot be written. */
  Future<Void> open() {
    if (config.audit() == null) {
      return Future.succeededFuture();
    }
    Path folder = StateFiles.auditFolder(config);
    AuditLog log = new AuditLog(config.audit(), folder, node);
    Counts counts = bus.telemetry().counts();
    counts.addGauge("audit_lag_records", "Audit records that are not written yet.", log::lag);
    counts.addCount("audit_lost_records", "Audit records that were lost.", log::lost);
    return host.deploy(new AuditVerticle(bus, log, folder))
        .onSuccess(
            running -> {
              deployed = running;
              record(
                  bridge("started")
                      .with("version", Version.current())
                      .with("digest", config.digest()));
            })
        .mapEmpty();
  }

  /** A configuration was applied, wholly or in part. */
  void configured(BridgeConfig next, boolean isWhole) {
    record(
        new AuditRecord("config")
            .with("state", isWhole ? "applied" : "failed")
            .with("digest", next.digest()));
  }

  /** Closes it after everything else. */
  Future<Void> close() {
    record(bridge("stopped"));
    return host.undeploy(deployed);
  }

  private static AuditRecord bridge(String state) {
    return new AuditRecord("bridge").with("state", state);
  }

  private void record(AuditRecord record) {
    bus.offer(Addresses.AUDIT, () -> record);
  }
}
