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
record OwnLife(Life life, Optional<ControlGroup> group, Optional<LifeFiles.Held> file) {
  private static final Logger LOG = System.getLogger(OwnLife.class.getName());

  private static OwnLife current;

  static synchronized OwnLife current() {
    if (current == null) {
      current = begin();
    }
    return current;
  }

  /** Empty before the first child. */
  static synchronized Optional<OwnLife> begun() {
    return Optional.ofNullable(current);
  }

  /** Takes back what was written down; a later child begins another life. */
  static synchronized void end() {
    if (current != null) {
      current.group.ifPresent(ControlGroup::remove);
      current.file.ifPresent(LifeFiles.Held::delete);
      current = null;
    }
  }

  private static OwnLife begin() {
    Life life = Life.begin();
    if (!ProcFs.exists()) {
      return new OwnLife(life, Optional.empty(), Optional.empty());
    }
    Optional<ControlGroup> group = ControlGroup.make();
    Optional<LifeFiles.Held> file =
        LifeFiles.all().flatMap(files -> files.write(life, group).stream()).findFirst();
    if (file.isEmpty()) {
      LOG.log(
          Level.WARNING,
          "if this bridge is killed, its servers are not ended at the next start: there is no"
              + " folder that only this user can write; set XDG_RUNTIME_DIR to one");
    }
    return new OwnLife(life, group, file);
  }
}
