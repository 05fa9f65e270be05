package dev.mcpbridge.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A flood of wrong keys does not fill the audit trail. */
@ExtendWith(VertxExtension.class)
class RefusedCredentialsTest {
  private final List<String> records = new ArrayList<>();

  private Void refuse(Vertx vertx, int addresses, int times) throws Exception {
    Bus bus = BusFixture.of(vertx);
    bus.serveDirectly(Addresses.AUDIT, this::take);
    RefusedCredentials refused = new RefusedCredentials(vertx, bus);
    return EventLoops.await(
        vertx,
        () -> {
          for (int i = 0; i < addresses * times; i++) {
            refused.add("10.0." + i % addresses);
          }
          return Future.succeededFuture();
        });
  }

  private Future<Void> take(AuditRecord record) {
    records.add(record.members().text());
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
}
