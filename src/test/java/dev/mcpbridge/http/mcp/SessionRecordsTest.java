package dev.mcpbridge.http.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.http.mcp.SessionRecords.SessionRecord;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Changes of a record that another node has refreshed, which this one has not heard of. */
class SessionRecordsTest {
  private static final byte[] VALUE = {1};
  private static final SessionRecord RECORD =
      new SessionRecord("ann", null, ProtocolVersion.LATEST, JsonSlice.EMPTY_OBJECT, "error");

  private final Item heard = new Item(VALUE, 1, 0, 60_000);
  private final List<Object> asked = new ArrayList<>();
  private Item agreed = new Item(VALUE, 2, 0, 60_000);
  private boolean isFull;
  private final SessionRecords records =
      new SessionRecords(
          Stubs.of(
              SharedMap.class,
              (method, arguments) -> method.equals("known") ? heard : change(arguments[1])),
          60_000);

  private Future<Change> change(Object expected) {
    asked.add(expected);
    boolean isDone = !isFull && agreed.isThere() && expected.equals(agreed.version());
    return Future.succeededFuture(new Change(isDone, isFull, agreed));
  }

  @Test
  void theEndOfASessionIsNotLostToARefresh() {
    records.remove("s");

    assertEquals(List.of(1L, 2L), asked);
  }

  @Test
  void aChangeOfASessionIsNotLostToARefresh() {
    assertTrue(records.change("s", RECORD).succeeded());

    assertEquals(List.of(1L, 2L), asked);
  }

  @Test
  void aSessionThatIsOverIsNotBroughtBack() {
    agreed = new Item(null, SharedMap.ABSENT, 0, 0);

    assertTrue(records.change("s", RECORD).succeeded());
    records.remove("s");

    assertEquals(List.of(1L, 1L), asked);
  }

  @Test
  void aChangeForWhichThereIsNoRoomFails() {
    isFull = true;

    assertFalse(records.change("s", RECORD).succeeded());
    assertEquals(List.of(1L), asked);
  }
}
