package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Detection of dead bridges by their run files. */
@EnabledOnOs(OS.LINUX)
class RunFilesTest {
  /** More than the largest pid of Linux. */
  private static final long UNUSED_PID = 1L << 23;

  @TempDir Path folder;
  private final BridgeRun current = BridgeRun.begin();
  private final List<RunFiles.DeadRun> ended = new ArrayList<>();

  @Test
  void aRunWhoseFileIsUnlockedIsDead() throws Exception {
    BridgeRun dead = of(current.boot(), current.namespace(), UNUSED_PID);
    Path file = writeRunFile(dead + "\n/sys/fs/cgroup/a");

    assertEquals(1, sweep());

    assertEquals(dead, ended.get(0).bridgeRun());
    assertEquals(Optional.of(new ControlGroup(Path.of("/sys/fs/cgroup/a"))), ended.get(0).group());
    assertFalse(Files.exists(file));
  }

  @Test
  void aRunWhoseFileIsLockedIsAlive() throws Exception {
    Path file = writeRunFile(of(current.boot(), current.namespace(), UNUSED_PID).toString());

    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.lock();
      assertEquals(0, sweep());
    }

    assertTrue(Files.exists(file));
  }

  @Test
  void aRunOfAnotherNamespaceIsLeftAlone() throws Exception {
    Path file = writeRunFile(of(current.boot(), "1", UNUSED_PID).toString());

    assertEquals(0, sweep());

    assertTrue(Files.exists(file));
  }

  @Test
  void aRunWhoseProcessExistsIsAlive() throws Exception {
    Path file = writeRunFile(current.toString());

    assertEquals(0, sweep());

    assertTrue(Files.exists(file));
  }

  @Test
  void onlyTheFileOfARunBeforeTheLastBootIsDeleted() throws Exception {
    Path file = writeRunFile(of("another-boot", current.namespace(), UNUSED_PID).toString());

    assertEquals(0, sweep());

    assertFalse(Files.exists(file));
  }

  @Test
  void anInvalidFileIsLeftAlone() throws Exception {
    for (String text : List.of("", "\n\n", "a/b/c", "a/b/c/d/e", "1-2-3")) {
      Path file = writeRunFile(text);

      assertEquals(0, sweep(), text);

      assertTrue(Files.exists(file), text);
    }
  }

  @Test
  void theOwnRunIsRecordedAndStaysLocked() throws Exception {
    RunFiles.LockedFile lockedFile =
        new RunFiles(folder).write(current, Optional.empty()).orElseThrow();

    assertEquals(0, sweep());

    assertTrue(lockedFile.channel().isOpen());
    assertEquals("rw-------", permissions(lockedFile.file()));
    assertEquals(current.toString(), Files.readString(lockedFile.file()).strip());
    lockedFile.delete();
    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void aMarkIsParsedAsItWasWritten() {
    ProcessMark mark = new ProcessMark(current, 7);

    assertEquals(Optional.of(mark), ProcessMark.parse(mark.toString()));
    for (String invalid :
        List.of("", "1-2-3", "/", current.toString(), current + "/x", "a/" + mark)) {
      assertEquals(Optional.empty(), ProcessMark.parse(invalid), invalid);
    }
  }

  private static String permissions(Path file) throws Exception {
    return java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(file));
  }

  private static BridgeRun of(String boot, String namespace, long pid) {
    return new BridgeRun(boot, namespace, pid, 1, "5ec4e7");
  }

  private Path writeRunFile(String text) throws Exception {
    return Files.writeString(Files.createTempFile(folder, "", ".life"), text);
  }

  private int sweep() {
    return new RunFiles(folder)
        .sweep(
            current,
            deadRun -> {
              ended.add(deadRun);
              return 1;
            });
  }
}
