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

/** Which bridges are taken for dead ones. */
@EnabledOnOs(OS.LINUX)
class RunFilesTest {
  /** More than the largest pid of Linux. */
  private static final long NOBODY = 1L << 23;

  @TempDir Path folder;
  private final BridgeRun here = BridgeRun.begin();
  private final List<RunFiles.DeadRun> ended = new ArrayList<>();

  @Test
  void aLifeWhoseLockIsFreeIsOver() throws Exception {
    BridgeRun past = of(here.boot(), here.namespace(), NOBODY);
    Path file = left(past + "\n/sys/fs/cgroup/a");

    assertEquals(1, sweep());

    assertEquals(past, ended.get(0).bridgeRun());
    assertEquals(Optional.of(new ControlGroup(Path.of("/sys/fs/cgroup/a"))), ended.get(0).group());
    assertFalse(Files.exists(file));
  }

  @Test
  void aLifeWhoseLockIsHeldIsNot() throws Exception {
    Path file = left(of(here.boot(), here.namespace(), NOBODY).toString());

    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.lock();
      assertEquals(0, sweep());
    }

    assertTrue(Files.exists(file));
  }

  @Test
  void aLifeOfAnotherNamespaceIsLeftToThoseWhoCanSeeIt() throws Exception {
    Path file = left(of(here.boot(), "1", NOBODY).toString());

    assertEquals(0, sweep());

    assertTrue(Files.exists(file));
  }

  @Test
  void aLifeWhoseProcessIsThereIsNotOver() throws Exception {
    Path file = left(here.toString());

    assertEquals(0, sweep());

    assertTrue(Files.exists(file));
  }

  @Test
  void aLifeBeforeTheMachinesStartHasLeftNothing() throws Exception {
    Path file = left(of("another-boot", here.namespace(), NOBODY).toString());

    assertEquals(0, sweep());

    assertFalse(Files.exists(file));
  }

  @Test
  void whatIsNoLifeIsLeftAlone() throws Exception {
    for (String text : List.of("", "\n\n", "a/b/c", "a/b/c/d/e", "1-2-3")) {
      Path file = left(text);

      assertEquals(0, sweep(), text);

      assertTrue(Files.exists(file), text);
    }
  }

  @Test
  void theOwnLifeIsWrittenDownAndNeitherJudgedNorUnlocked() throws Exception {
    RunFiles.LockedFile lockedFile =
        new RunFiles(folder).write(here, Optional.empty()).orElseThrow();

    assertEquals(0, sweep());

    assertTrue(lockedFile.channel().isOpen());
    assertEquals("rw-------", permissions(lockedFile.file()));
    assertEquals(here.toString(), Files.readString(lockedFile.file()).strip());
    lockedFile.delete();
    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void aMarkIsReadAsItWasWritten() {
    ProcessMark mark = new ProcessMark(here, 7);

    assertEquals(Optional.of(mark), ProcessMark.parse(mark.toString()));
    for (String wrong : List.of("", "1-2-3", "/", here.toString(), here + "/x", "a/" + mark)) {
      assertEquals(Optional.empty(), ProcessMark.parse(wrong), wrong);
    }
  }

  private static String permissions(Path file) throws Exception {
    return java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(file));
  }

  private static BridgeRun of(String boot, String namespace, long pid) {
    return new BridgeRun(boot, namespace, pid, 1, "5ec4e7");
  }

  private Path left(String text) throws Exception {
    return Files.writeString(Files.createTempFile(folder, "", ".life"), text);
  }

  private int sweep() {
    return new RunFiles(folder)
        .sweep(
            here,
            deadRun -> {
              ended.add(deadRun);
              return 1;
            });
  }
}
