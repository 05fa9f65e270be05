package dev.mcpbridge.audit;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.AuditRecord.Need;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;

/** Takes the records of this node from the bus. Deployed only if an audit trail is configured. */
public final class AuditVerticle extends VerticleBase {
  private final Bus bus;
  private final AuditLog log;
  private Runnable unregister = () -> {};

  public AuditVerticle(Bus bus, AuditLog log) {
    this.bus = bus;
    this.log = log;
  }

  @Override
  public Future<?> start() {
    return vertx
        .executeBlocking(
            () -> {
              log.open();
              return null;
            },
            false)
        .onSuccess(opened -> unregister = bus.serveDirectly(Addresses.AUDIT, this::take));
  }

  /** Writes what was taken. The last thing that a bridge does. */
  @Override
  public Future<?> stop() {
    unregister.run();
    return vertx.executeBlocking(
        () -> {
          log.close();
          return null;
        },
        false);
  }

  private Future<Void> take(AuditRecord record) {
    if (record.need() != Need.NONE && !log.mayRun()) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.AUDIT_UNAVAILABLE, "The audit trail cannot be written, so nothing runs")
              .withRetryAfter(1_000));
    }
    if (record.need() != Need.DURABLE || !log.isStrict()) {
      log.append(record);
      return Future.succeededFuture();
    }
    Promise<Void> durable = Promise.promise();
    log.append(record, () -> context.runOnContext(v -> durable.complete()));
    return durable.future();
  }
}
