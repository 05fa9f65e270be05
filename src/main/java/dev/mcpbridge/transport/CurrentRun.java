package dev.mcpbridge.transport;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;

/**
 * The current run of this bridge. It begins with the first child process and is recorded in a file
 * before that child is started. Thread-safe; blocks for some milliseconds.
 *
 * @param group parent group of the children; empty if the bridge may not create one
 * @param file the locked run file; empty if no folder is usable
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

  /** The current run; empty before the first child. */
  static synchronized Optional<CurrentRun> existing() {
    return Optional.ofNullable(current);
  }

  /** Ends the run and deletes its file; a later child begins a new run. */
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
    Optional<ControlGroup> group = ControlGroup.create();
    Optional<RunFiles.LockedFile> file =
        RunFiles.all().flatMap(files -> files.write(bridgeRun, group).stream()).findFirst();
    if (file.isEmpty()) {
      LOG.log(
          Level.WARNING,
          "orphaned servers cannot be cleaned up after a crash: no folder is writable by this user"
              + " only; set XDG_RUNTIME_DIR to such a folder");
    }
    return new CurrentRun(bridgeRun, group, file);
  }
}
