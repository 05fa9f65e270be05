package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The secret that the nodes of a user share if none is configured. */
class ClusterSecretTest {
  @TempDir Path state;

  private static ClusterConfig config(String name, String secret) {
    return new ClusterConfig(
        name,
        List.of("127.0.0.1:7801"),
        "127.0.0.1:7801",
        "127.0.0.1",
        "one",
        List.of(),
        secret,
        null,
        1_500,
        false,
        null,
        null);
  }

  private String secret(String cluster) throws IOException {
    return ClusterSecret.withUserSecret(config(cluster, ""), state).secret();
  }

  private Path file() {
    return state.resolve("cluster").resolve("demo.secret");
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private void assertRefused(String reason) {
    IOException failure = assertThrows(IOException.class, () -> secret("demo"));
    assertTrue(failure.getMessage().contains(reason), failure.getMessage());
    assertTrue(failure.getMessage().contains(file().toString()), failure.getMessage());
    assertTrue(failure.getMessage().contains("set cluster.secret"), failure.getMessage());
  }

  @Test
  void secretIsCreatedOnceForItsUserOnly() throws Exception {
    String created = secret("demo");

    assertEquals(64, created.length());
    assertEquals(created, secret("demo"));
    assertEquals("rw-------", mode(file()));
    assertEquals("rwx------", mode(file().getParent()));
  }

  @Test
  void concurrentStartsShareOneSecret() throws Exception {
    int nodes = 12;
    ExecutorService threads = Executors.newFixedThreadPool(nodes);
    try {
      CountDownLatch begin = new CountDownLatch(1);
      List<Future<String>> starts = new ArrayList<>();
      for (int i = 0; i < nodes; i++) {
        starts.add(
            threads.submit(
                () -> {
                  begin.await();
                  return secret("demo");
                }));
      }
      begin.countDown();

      Set<String> secrets = new HashSet<>();
      for (Future<String> start : starts) {
        secrets.add(start.get());
      }
      assertEquals(1, secrets.size());
      try (Stream<Path> files = Files.list(file().getParent())) {
        assertEquals(List.of(file()), files.toList());
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void eachClusterNameHasItsOwnSecret() throws Exception {
    assertNotEquals(secret("demo"), secret("../demo"));

    try (Stream<Path> files = Files.list(state)) {
      assertEquals(List.of(state.resolve("cluster")), files.toList());
    }
  }

  @Test
  void noSecretIsCreatedIfASecretIsConfigured() throws Exception {
    ClusterConfig secret = config("demo", "a secret of the tests");

    assertEquals(secret, ClusterSecret.withUserSecret(secret, state));
    assertFalse(Files.exists(file()));
  }

  @Test
  void secretReadableByOthersIsRefused() throws Exception {
    secret("demo");
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r-----"));

    assertRefused("rw-r-----");
  }

  @Test
  void folderAccessibleToOthersIsRefused() throws Exception {
    secret("demo");
    Files.setPosixFilePermissions(file().getParent(), PosixFilePermissions.fromString("rwxr-xr-x"));

    assertRefused("rwxr-xr-x");
  }

  @Test
  void secretOfAnotherUserIsRefused() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can change owners");
    secret("demo");
    Files.setOwner(
        file(),
        FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));

    assertRefused("belongs to nobody");
  }

  @Test
  void symbolicLinkIsRefused() throws Exception {
    secret("demo");
    Path target = Files.move(file(), state.resolve("target"));
    Files.createSymbolicLink(file(), target);

    assertRefused("symbolic link");
  }

  @Test
  void shortSecretIsRefused() throws Exception {
    secret("demo");
    Files.writeString(file(), "short\n");

    assertRefused("fewer than 16 characters");
  }

  @Test
  void unusableFolderIsReportedWithAdvice() throws Exception {
    Files.writeString(state.resolve("cluster"), "in the way");

    assertRefused("cluster");
  }

  @Test
  void stateFolderFollowsTheXdgSpecification() {
    Path home = Path.of(System.getProperty("user.home"), ".local", "state", "mcp-bridge");

    assertEquals(Path.of("/s/mcp-bridge"), StateFolder.of(Map.of("XDG_STATE_HOME", "/s")));
    assertEquals(home, StateFolder.of(Map.of("XDG_STATE_HOME", "not/absolute")));
    assertEquals(home, StateFolder.of(Map.of()));
  }
}
