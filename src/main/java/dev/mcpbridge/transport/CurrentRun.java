package dev.mcpbridge.transport;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;

/**
 * This run of the bridge, which begins with its first child and is written down before that is
 * started. For any thread; blocks for some milliseconds.
 *
 * @param group for its children; empty where it may have none
 * @param file empty where there is no folder for it
 */
record CurrentRun(
    BridgeRun bridgeRun, Optional<ControlGroup> group, Optional<RunFiles.LockedFile> file) {
  private static final Logger LOG = System.getLogger(CurrentRun.class.getName());

  private static CurrentRun current;

  static synchronized CurrentRun current() {
    if (current == null) {
      current = begin();
    }
    return current;
  }

  /** Empty before the first child. */
  static synchronized Optional<CurrentRun> begun() {
    return Optional.ofNullable(current);
  }

  /** Takes back what was written down; a later child begins another life. */
  static synchronized void end() {
    if (current != null) {
      current.group.ifPresent(ControlGroup::remove);
      current.file.ifPresent(RunFiles.LockedFile::delete);
      current = null;
    }
  }

  private static CurrentRun begin() {
    BridgeRun bridgeRun = BridgeRun.begin();
    if (!ProcFs.exists()) {
      return new CurrentRun(bridgeRun, Optional.empty(), Optional.empty());
    }
    Optional<ControlGroup> group = ControlGroup.make();
    Optional<RunFiles.LockedFile> file =
        RunFiles.all().flatMap(files -> files.write(bridgeRun, group).stream()).findFirst();
    if (file.isEmpty()) {
      LOG.log(
          Level.WARNING,
          "if this bridge is killed, its servers are not ended at the next start: there is no"
              + " folder that only this user can write; set XDG_RUNTIME_DIR to one");
    }
    return new CurrentRun(bridgeRun, group, file);
  }
}
