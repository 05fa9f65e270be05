package dev.mcpbridge.http.mcp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Changes of a record that another node has refreshed without this node having seen it. */
class SessionRecordsTest {
  private static final byte[] VALUE = {1};
  private static final SessionRecord RECORD =
      new SessionRecord(
          "ann", Selection.ALL, ProtocolVersion.LATEST, JsonSlice.EMPTY_OBJECT, "error");

  private final Item cached = new Item(VALUE, 1, 0, 60_000);
  private final List<Object> expectedVersions = new ArrayList<>();
  private Item current = new Item(VALUE, 2, 0, 60_000);
  private boolean isFull;
  private final SessionRecords records =
      new SessionRecords(
          Stubs.of(
              SharedMap.class,
              (method, arguments) -> method.equals("cached") ? cached : change(arguments[1])),
          60_000);

  private Future<Change> change(Object expected) {
    expectedVersions.add(expected);
    boolean isDone = !isFull && current.isPresent() && expected.equals(current.version());
    return Future.succeededFuture(new Change(isDone, isFull, current));
  }

  @Test
  void removalSurvivesAConcurrentRefresh() {
    records.remove("s");

    assertEquals(List.of(1L, 2L), expectedVersions);
  }

  @Test
  void changeSurvivesAConcurrentRefresh() {
    assertTrue(records.change("s", RECORD).succeeded());

    assertEquals(List.of(1L, 2L), expectedVersions);
  }

  @Test
  void endedSessionIsNotRestored() {
    current = new Item(null, SharedMap.ABSENT, 0, 0);

    assertTrue(records.change("s", RECORD).succeeded());
    records.remove("s");

    assertEquals(List.of(1L, 1L), expectedVersions);
  }

  @Test
  void changeFailsWithoutRoom() {
    isFull = true;

    assertFalse(records.change("s", RECORD).succeeded());
    assertEquals(List.of(1L), expectedVersions);
  }

  @Test
  void aRecordIsReadAsItWasWritten() {
    for (Selection each :
        List.of(Selection.ALL, Selection.of(new ServerId("git")), Selection.ofProfile("desk"))) {
      SessionRecord record =
          new SessionRecord("ann", each, ProtocolVersion.LATEST, JsonSlice.EMPTY_OBJECT, "error");

      assertEquals(record, SessionRecord.of(record.toBytes()));
    }
  }
}
