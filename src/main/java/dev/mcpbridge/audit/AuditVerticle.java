package dev.mcpbridge.audit;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.AuditSearches;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.AuditRecord.Need;
import dev.mcpbridge.model.Notice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;

/** Takes the records of this node from the bus. Deployed only if an audit trail is configured. */
public final class AuditVerticle extends VerticleBase {
  private static final Logger LOG = System.getLogger(AuditVerticle.class.getName());

  private static final Shares.Limit SEARCHES =
      new Shares.Limit("searches of the audit trail", "", 8, 1_000);

  /** Between two looks at the last checkpoint, of which there is one a minute. */
  private static final long HEAD_MILLIS = 5_000;

  private final Bus bus;
  private final AuditLog log;
  private final AuditSearch search;
  private final Shares searches = new Shares(SEARCHES, () -> true);
  private Runnable unregister = () -> {};
  private Head logged;
  private Head sent;

  /**
   * @param folder where the trail is kept
   */
  public AuditVerticle(Bus bus, AuditLog log, Path folder) {
    this.bus = bus;
    this.log = log;
    this.search = new AuditSearch(folder);
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
        .onSuccess(opened -> register());
  }

  private void register() {
    Runnable records = bus.serveDirectly(Addresses.AUDIT, this::take);
    Runnable searching = bus.serve(AuditSearches.at(0), this::search);
    long timer = vertx.setPeriodic(HEAD_MILLIS, due -> sendHead());
    unregister =
        () -> {
          vertx.cancelTimer(timer);
          records.run();
          searching.run();
        };
  }

  /** Sends the last checkpoint to where who can write the folder cannot change it. */
  private void sendHead() {
    Head head = log.head();
    if (head != null && !head.equals(logged)) {
      logged = head;
      LOG.log(Level.INFO, "audit checkpoint {0}", head.toJson().text());
    }
    if (head != null && !head.equals(sent) && bus.isServed(Addresses.NOTICES)) {
      sent = head;
      bus.offer(Addresses.NOTICES, () -> notice(head));
    }
  }

  private static Notice notice(Head head) {
    return new Notice(Notice.Type.AUDIT_CHECKPOINT, "audit", head.toJson(), null);
  }

  /** Writes what was taken, and sends its checkpoint. The last thing that a bridge does. */
  @Override
  public Future<?> stop() {
    unregister.run();
    return vertx
        .executeBlocking(
            () -> {
              log.close();
              return null;
            },
            false)
        .onSuccess(closed -> sendHead());
  }

  /** Searches one after the other, since the first of them may make an index. */
  private Future<AuditPage> search(AuditSearches.Request request) {
    searches.acquire(request.caller());
    return vertx
        .executeBlocking(() -> search.search(request.query()), true)
        .onComplete(done -> searches.release(request.caller()));
  }

  private Future<Void> take(AuditRecord record) {
    if (record.need() != Need.NONE && !log.mayRun()) {
      return Future.failedFuture(unavailable());
    }
    if (record.need() != Need.DURABLE || !log.config().strict()) {
      log.append(record);
      return Future.succeededFuture();
    }
    Promise<Void> durable = Promise.promise();
    log.append(record, isWritten -> context.runOnContext(v -> settle(durable, isWritten)));
    return durable.future();
  }

  /** A record may be lost after it was taken. */
  private void settle(Promise<Void> durable, boolean isWritten) {
    if (isWritten || !log.config().refusesOnFailure()) {
      durable.complete();
    } else {
      durable.fail(unavailable());
    }
  }

  private static BridgeException unavailable() {
    return new BridgeException(
            ErrorCode.AUDIT_UNAVAILABLE, "The audit trail cannot be written, so nothing runs")
        .withRetryAfter(1_000);
  }
}
