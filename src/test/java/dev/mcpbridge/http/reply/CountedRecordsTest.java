package dev.mcpbridge.http.reply;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.http.reply.CountedRecords.Kind;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A flood of wrong keys does not fill the audit trail. */
@ExtendWith(VertxExtension.class)
class CountedRecordsTest {
  private final List<String> records = new ArrayList<>();

  private Void refuse(Vertx vertx, int addresses, int times) throws Exception {
    Bus bus = BusFixture.of(vertx);
    bus.serveDirectly(Addresses.AUDIT, this::take);
    CountedRecords refused = new CountedRecords(vertx, bus, "credential", "refused", 60_000);
    return EventLoops.await(
        vertx,
        () -> {
          for (int i = 0; i < addresses * times; i++) {
            refused.add(new Kind(null, "10.0." + i % addresses, null));
          }
          return Future.succeededFuture();
        });
  }

  private Future<Void> take(AuditRecord record) {
    records.add(record.toString());
    return Future.succeededFuture();
  }

  @Test
  void oneAddressHasOneRecordAtOnce(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    refuse(vertx, 1, 1_000);

    assertEquals(List.of("{\"address\":\"10.0.0\",\"refused\":1}"), records);
  }

  @Test
  void addressesBeyondTheBoundAreRecordedTogether(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    refuse(vertx, 5_000, 2);

    assertEquals(1_000, records.size());
    assertEquals("{\"address\":\"others\",\"refused\":1}", records.get(999));
  }

  @Test
  void callerWithManyAddressesDoesNotHideOthers(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    Bus bus = BusFixture.of(vertx);
    bus.serveDirectly(Addresses.AUDIT, this::take);
    CountedRecords uses = new CountedRecords(vertx, bus, "credential", "used", 60_000);
    EventLoops.await(
        vertx,
        () -> {
          for (int i = 0; i < 5_000; i++) {
            uses.add(new Kind("mallory", "10.0." + i, null));
          }
          uses.add(new Kind("alice", "10.1.0", null));
          return Future.succeededFuture();
        });

    String ofMallory = "{\"principal\":\"mallory\",\"address\":\"others\",\"used\":1}";
    String ofAlice = "{\"principal\":\"alice\",\"address\":\"10.1.0\",\"used\":1}";
    assertEquals(List.of(ofMallory, ofAlice), records.subList(499, 501));
    assertEquals(501, records.size());
  }

  @Test
  void furtherOnesOfAPeriodAreRecordedTogetherAtItsEnd(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    // Given
    Bus bus = BusFixture.of(vertx);
    Promise<Void> both = Promise.promise();
    bus.serveDirectly(
        Addresses.AUDIT,
        record -> {
          take(record);
          if (records.size() == 2) {
            both.complete();
          }
          return Future.succeededFuture();
        });
    CountedRecords uses = new CountedRecords(vertx, bus, "credential", "used", 1);
    Kind kind = new Kind("alice", "10.0.0.1", null);

    // When
    EventLoops.await(
        vertx,
        () -> {
          uses.add(kind);
          uses.add(kind);
          uses.add(kind);
          return both.future();
        });

    // Then
    String start = "{\"principal\":\"alice\",\"address\":\"10.0.0.1\",\"used\":";
    assertEquals(List.of(start + "1}", start + "2}"), records);
  }
}
