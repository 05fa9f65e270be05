package dev.mcpbridge.transport;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** The processes that belong to a run of a bridge: of this one, or of one that was killed. */
public final class Orphans {
  private static final int REMOVAL_ROUNDS = 100;
  private static final long REMOVAL_NANOS = 5_000_000;

  private Orphans() {}

  /**
   * Ends every child of this bridge at once, without asking: whoever calls it may run nothing any
   * more. Blocks for some milliseconds.
   *
   * @return how many processes were ended
   */
  public static int endOwn() {
    return OwnLife.begun().map(own -> end(own.life(), own.group())).orElse(0);
  }

  /**
   * Ends the children of bridges of this user that are surely dead; all others are left alone.
   * Blocks for some milliseconds.
   *
   * @return how many processes were ended
   */
  public static int end() {
    if (!ProcFs.exists()) {
      return 0;
    }
    Life here = Life.begin();
    return LifeFiles.all().mapToInt(files -> files.sweep(here, Orphans::endPast)).sum();
  }

  /** Where no child of this bridge is left, nothing needs to be known of it any more. Blocks. */
  public static void forgetOwn() {
    OwnLife.begun()
        .filter(own -> members(own.life(), own.group()).isEmpty())
        .ifPresent(own -> OwnLife.end());
  }

  /** Whatever this bridge has started, directly or not, as far as that can be seen. */
  static List<ProcFs.Stat> family() {
    long self = ProcessHandle.current().pid();
    Set<ProcFs.Stat> family =
        OwnLife.begun()
            .map(own -> new HashSet<>(members(own.life(), own.group())))
            .orElse(new HashSet<>());
    List<ProcFs.Stat> all = ProcFs.find(stat -> true);
    all.stream().filter(stat -> stat.parent() == self).forEach(family::add);
    return ProcFs.withDescendants(family, all);
  }

  private static int endPast(LifeFiles.Past past) {
    int ended = end(past.life(), past.group());
    past.group().ifPresent(Orphans::remove);
    return ended;
  }

  private static int end(Life life, Optional<ControlGroup> group) {
    List<ProcFs.Stat> members = members(life, group);
    group.ifPresent(ControlGroup::kill);
    members.forEach(member -> member.handle().ifPresent(ProcessHandle::destroyForcibly));
    return members.size();
  }

  private static List<ProcFs.Stat> members(Life life, Optional<ControlGroup> group) {
    Set<Long> grouped = group.map(ControlGroup::members).orElse(new HashSet<>());
    return ProcFs.find(
        stat ->
            grouped.contains(stat.pid())
                || ProcessMark.of(stat.pid()).filter(mark -> mark.life().equals(life)).isPresent());
  }

  /** The kernel takes a moment to bury them. */
  private static void remove(ControlGroup group) {
    for (int round = 0; round < REMOVAL_ROUNDS && !group.remove(); round++) {
      LockSupport.parkNanos(REMOVAL_NANOS);
    }
  }
}
