package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The lock file and the map follow each other. */
@ExtendWith(VertxExtension.class)
class PinStoreTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final Name TOOL = new Name(DefinitionKind.TOOL, "t");
  private static final Name OTHER = new Name(DefinitionKind.TOOL, "u");

  @TempDir private Path folder;
  private Vertx vertx;
  private final List<AuditRecord> trail = new CopyOnWriteArrayList<>();
  private Path file;

  @BeforeEach
  void begin(@ProvidedBy(BridgeVertx.class) Vertx vertx) {
    this.vertx = vertx;
    this.file = folder.resolve("bridge.lock.json");
  }

  private static ServerPins pins(Name name, String digest) {
    JsonSlice definition = JsonSlice.of("{\"name\":\"t\"}");
    return new ServerPins(
        Map.of(name, new Pin(false, digest, definition, "2026-01-01T00:00:00Z", "alice")));
  }

  private PinStore opened() throws Exception {
    Cluster alone = new SingleNode(Clock.systemUTC());
    PinStore store =
        new PinStore(vertx, alone.map("pins"), alone, file, new PinRecords(trail::add));
    EventLoops.await(vertx, store::open);
    return store;
  }

  private void put(PinStore store, ServerPins pins) throws Exception {
    EventLoops.await(vertx, () -> store.put(SERVER, store.version(SERVER), pins));
  }

  private ServerPins of(PinStore store) throws Exception {
    return EventLoops.await(vertx, () -> Future.succeededFuture(store.of(SERVER)));
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, "not within 20 s");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private boolean fileHas(String text) throws Exception {
    return Files.exists(file) && Files.readString(file).contains(text);
  }

  @Test
  void pinsAreInTheFileAndInTheNextStore() throws Exception {
    PinStore store = opened();
    assertFalse(Files.exists(file), "nothing is pinned yet");

    put(store, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));

    assertEquals(pins(TOOL, "v1:sha256:1"), of(opened()));
  }

  @Test
  void editOfTheFileIsAppliedAndChangesMeanwhileAreKept() throws Exception {
    // Given
    PinStore store = opened();
    put(store, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));

    // When
    Files.writeString(file, Files.readString(file).replace("v1:sha256:1", "v1:sha256:2"));
    put(store, of(store).with(pins(OTHER, "v1:sha256:3").all()));

    // Then
    until(() -> of(store).of(TOOL).digest().equals("v1:sha256:2"));
    until(() -> fileHas("v1:sha256:3") && fileHas("v1:sha256:2"));
    assertEquals("v1:sha256:3", of(store).of(OTHER).digest());
  }

  @Test
  void serverThatIsRemovedFromTheFileIsForgotten() throws Exception {
    PinStore store = opened();
    put(store, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));

    Files.writeString(file, "{\"version\":1,\"servers\":{}}");

    until(() -> of(store) == null);
    put(store, pins(OTHER, "v1:sha256:3"));
    until(() -> fileHas("v1:sha256:3"));
  }

  @Test
  void fileThatVanishesIsWrittenAgain() throws Exception {
    PinStore store = opened();
    put(store, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));

    Files.delete(file);

    until(() -> fileHas("v1:sha256:1"));
    assertEquals("v1:sha256:1", of(store).of(TOOL).digest());
  }

  @Test
  void brokenFilePreventsTheStartAndStaysAsItIs() throws Exception {
    Files.writeString(file, "{\"version\":1,");

    Exception e = assertThrows(Exception.class, this::opened);

    assertTrue(e.toString().contains("bridge.lock.json is not a lock file"), e.toString());
    assertEquals("{\"version\":1,", Files.readString(file));
  }

  @Test
  void fileThatIsBrokenMeanwhileStaysAndThePinsStay() throws Exception {
    // Given
    PinStore store = opened();
    put(store, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));

    // When
    Files.writeString(file, "<<<<<<< conflict");
    put(store, pins(OTHER, "v1:sha256:3"));
    EventLoops.await(vertx, store::written);

    // Then
    assertEquals("<<<<<<< conflict", Files.readString(file));
    assertEquals("v1:sha256:3", of(store).of(OTHER).digest());
    assertNull(of(store).of(TOOL));
  }

  @Test
  void editThatLeavesTimeAndSizeOfTheFileIsAppliedAtTheNextChange() throws Exception {
    // Given
    PinStore store = opened();
    put(store, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));
    EventLoops.await(vertx, store::written);

    // When
    FileTime modified = Files.getLastModifiedTime(file);
    Files.writeString(file, Files.readString(file).replace("v1:sha256:1", "v1:sha256:2"));
    Files.setLastModifiedTime(file, modified);
    put(store, of(store).with(pins(OTHER, "v1:sha256:3").all()));
    EventLoops.await(vertx, store::written);

    // Then
    assertEquals("v1:sha256:2", of(store).of(TOOL).digest());
    assertTrue(fileHas("v1:sha256:3") && fileHas("v1:sha256:2"), Files.readString(file));
  }

  @Test
  void nodeOfAClusterIsCurrentOnlyWhenItHasMergedItsFileWithThePinsOfTheOthers() throws Exception {
    // Given
    PinStore first = opened();
    put(first, pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));
    SharedMap shared = new SingleNode(Clock.systemUTC()).map("pins");
    AtomicReference<String> state = new AtomicReference<>("joining");
    List<String> judged = new ArrayList<>();
    Cluster node =
        Stubs.of(
            Cluster.class,
            (method, arguments) ->
                method.equals("view")
                    ? new Cluster.View(state.get(), "n1", null, List.of(), 0, 0, List.of())
                    : false);
    PinStore store = new PinStore(vertx, shared, node, file, new PinRecords(trail::add));
    store.onChange(() -> judged.add(store.isCurrent() + " " + (store.of(SERVER) != null)));

    // When
    EventLoops.await(vertx, store::open);

    // Then
    assertFalse(store.isCurrent());
    assertNull(of(store));

    // When
    put(store, pins(OTHER, "v1:sha256:3"));
    state.set("member");

    // Then
    until(store::isCurrent);
    assertEquals("v1:sha256:1", of(store).of(TOOL).digest());
    assertEquals("v1:sha256:3", of(store).of(OTHER).digest());
    assertFalse(judged.contains("true false"), judged.toString());
    until(() -> fileHas("v1:sha256:3"));
  }

  @Test
  void folderThatCannotBeWrittenOnlyCostsTheFile() throws Exception {
    file = folder.resolve("no-folder-but-a-file");
    Files.writeString(file, "");
    file = file.resolve("bridge.lock.json");
    PinStore store = opened();

    put(store, pins(TOOL, "v1:sha256:1"));
    EventLoops.await(vertx, store::written);

    assertEquals("v1:sha256:1", of(store).of(TOOL).digest());
  }

  private List<String> recorded() {
    return trail.stream().map(AuditRecord::toString).toList();
  }

  @Test
  void everyEditOfTheLockFileIsRecorded() throws Exception {
    // Given
    PinStore store = opened();
    put(store, pins(TOOL, "v1:sha256:1").with(pins(OTHER, "v1:sha256:2").all()));
    until(() -> fileHas("v1:sha256:2"));
    String decided = Files.readString(file);

    // When
    Files.writeString(file, decided.replace("v1:sha256:1", "v1:sha256:3"));
    until(() -> trail.size() == 3);
    Files.writeString(file, "{\"version\":1,\"servers\":{}}");
    until(() -> trail.size() == 5);

    // Then
    List<String> edits = recorded().subList(2, 5);
    assertTrue(edits.get(0).startsWith("{\"source\":\"lock_file\",\"by\":\"alice\""), edits.get(0));
    assertTrue(edits.get(0).endsWith("\"decision\":\"approve\",\"digest\":\"v1:sha256:3\"}"));
    assertTrue(edits.get(1).endsWith("\"decision\":\"forget\"}"), edits.get(1));
    assertTrue(edits.get(2).endsWith("\"decision\":\"forget\"}"), edits.get(2));
  }

  @Test
  void lockFileOfTheStartIsRecordedByItsDigest() throws Exception {
    // Given
    put(opened(), pins(TOOL, "v1:sha256:1"));
    until(() -> fileHas("v1:sha256:1"));
    trail.clear();

    // When
    opened();

    // Then
    String digest = Sha256.of(Files.readString(file)).hex();
    assertEquals(
        List.of(
            "{\"source\":\"lock_file\",\"decision\":\"load\",\"digest\":\"%s\",\"definitions\":1}"
                .formatted(digest)),
        recorded());
  }

  @Test
  void serverWithManyDefinitionsDoesNotFillTheTrail() throws Exception {
    Map<Name, Pin> all = new HashMap<>();
    Pin pin = pins(TOOL, "v1:sha256:1").of(TOOL);
    for (int i = 0; i < 5_000; i++) {
      all.put(new Name(DefinitionKind.TOOL, "t" + i), pin);
    }

    put(opened(), new ServerPins(all));

    assertEquals(1_001, trail.size());
    assertTrue(recorded().get(1_000).endsWith("\"decision\":\"more\",\"definitions\":4000}"));
  }
}
