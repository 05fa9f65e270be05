package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Credentials in a file: after a restart, with other keys, and for readers of the file. */
@Tag("access")
class StoredGrantsIT {
  private static final String FIRST = key();
  private static final String SECOND = key();

  @AutoClose private final ProtectedServer notes = new ProtectedServer();
  @AutoClose private TestBridge bridge;
  @TempDir private Path folder;

  /** The redirect URI, for which the bridge is registered, contains it. */
  private final int port = FreePorts.find(1).get(0);

  StoredGrantsIT() throws Exception {}

  private static String key() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  private Path file() {
    return folder.resolve("kept/credentials.json");
  }

  private static String entry(String id, String key) {
    return "{'id':'" + id + "','key':'" + key + "'}";
  }

  private void start(String keys) {
    bridge =
        TestBridge.at(
            port,
            "{'credentials':{'file':'%s','keys':[%s]},'mcpServers':{'notes':%s}}"
                .formatted(file(), keys, notes.entry("")));
  }

  private Answer call() throws Exception {
    return bridge.post("/servers/notes/tools/me", "{}");
  }

  private void connectAndStop() throws Exception {
    start(entry("a", FIRST));
    new ConsentBrowser().connect(call().at("/connect_url"), Map.of());
    assertEquals("alice", call().firstText());
    bridge.close();
  }

  @Test
  void grantSurvivesARestart() throws Exception {
    connectAndStop();

    start(entry("a", FIRST));

    assertEquals("alice", call().firstText());
    assertEquals(1, notes.count("/authorize"));
  }

  @Test
  void registrationSurvivesARestart() throws Exception {
    connectAndStop();
    start(entry("a", FIRST));
    notes.revokeAll();

    new ConsentBrowser().connect(call().at("/connect_url"), Map.of());

    assertEquals("alice", call().firstText());
    assertEquals(1, notes.count("/register"));
  }

  @Test
  void refreshedGrantSurvivesARestart() throws Exception {
    connectAndStop();
    start(entry("a", FIRST));
    notes.revokeAccess();
    assertEquals("alice", call().firstText());
    bridge.close();

    start(entry("a", FIRST));
    notes.revokeAccess();

    assertEquals("alice", call().firstText());
  }

  @Test
  void fileHoldsNothingReadableAndIsPrivate() throws Exception {
    connectAndStop();

    String text = Files.readString(file());

    assertFalse(notes.secrets().isEmpty());
    for (String secret : notes.secrets()) {
      assertFalse(text.contains(secret), "a token is in the file");
    }
    assertFalse(text.contains("dynamic-secret"), text);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
  }

  @Test
  void newKeySealsAndTheOldOneStillOpens() throws Exception {
    connectAndStop();
    start(entry("b", SECOND) + "," + entry("a", FIRST));
    notes.revokeAccess();
    assertEquals("alice", call().firstText());
    bridge.delete("/servers/notes/credentials");
    new ConsentBrowser().connect(call().at("/connect_url"), Map.of());
    bridge.close();

    start(entry("b", SECOND) + "," + entry("a", FIRST));

    assertEquals("alice", call().firstText());
  }

  @Test
  void oldKeyCanBeRemovedAfterAStartWithTheNewOne() throws Exception {
    connectAndStop();
    start(entry("b", SECOND) + "," + entry("a", FIRST));
    bridge.close();

    start(entry("b", SECOND));

    assertEquals("alice", call().firstText());
    notes.revokeAll();
    new ConsentBrowser().connect(call().at("/connect_url"), Map.of());
    assertEquals("alice", call().firstText());
    assertEquals(1, notes.count("/register"));
  }

  @Test
  void unknownKeyRefusesToStartAndLosesNothing() throws Exception {
    connectAndStop();
    String before = Files.readString(file());

    Exception refused = assertThrows(Exception.class, () -> start(entry("b", SECOND)));

    assertTrue(refused.toString().contains("its key is 'a'"), refused.toString());
    assertEquals(before, Files.readString(file()));
    start(entry("a", FIRST));
    assertEquals("alice", call().firstText());
  }

  @Test
  void recordThatIsMovedToAnotherCallerRefusesToStart() throws Exception {
    connectAndStop();
    String text = Files.readString(file());
    assertTrue(text.contains("grant notes anonymous"), text);
    Files.writeString(file(), text.replace("grant notes anonymous", "grant notes mallory"));

    assertThrows(Exception.class, () -> start(entry("a", FIRST)));
  }

  @Test
  void withoutKeysNothingIsWritten() throws Exception {
    bridge =
        TestBridge.of(
            "{'credentials':{'file':'%s'},'mcpServers':{'notes':%s}}"
                .formatted(file(), notes.entry("")));
    new ConsentBrowser().connect(call().at("/connect_url"), Map.of());

    assertEquals("alice", call().firstText());
    assertFalse(Files.exists(file()));
  }

  @Test
  void credentialThatACallerStoresIsKeptToo() throws Exception {
    start(entry("a", FIRST));
    String body = "{\"authorization\":\"Bearer kept-secret\"}";
    assertEquals(204, bridge.put("/servers/notes/credentials", body).status());
    bridge.close();

    String text = Files.readString(file());

    assertTrue(text.contains("stored notes anonymous"), text);
    assertFalse(text.contains("kept-secret"), text);
  }
}
