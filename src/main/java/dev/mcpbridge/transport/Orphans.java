package dev.mcpbridge.transport;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** Ends processes started by a run of a bridge: this one, or an earlier one that was killed. */
public final class Orphans {
  private static final int REMOVAL_ROUNDS = 100;
  private static final long REMOVAL_NANOS = 5_000_000;

  private Orphans() {}

  /**
   * Kills all children of this bridge at once; called when this node may no longer run anything.
   * Blocks for some milliseconds.
   *
   * @return number of processes killed
   */
  public static int killOwn() {
    return CurrentRun.existing().map(own -> killOrphans(own.bridgeRun(), own.group())).orElse(0);
  }

  /**
   * Kills the children of this user's bridges that are certainly dead; all others are left alone.
   * Blocks for some milliseconds.
   *
   * @return number of processes killed
   */
  public static int killOrphans() {
    if (!ProcFs.exists()) {
      return 0;
    }
    BridgeRun current = BridgeRun.begin();
    return RunFiles.all().mapToInt(files -> files.sweep(current, Orphans::endDead)).sum();
  }

  /** Deletes the record of this run if no child of this bridge is left. Blocks. */
  public static void deleteOwnRecord() {
    CurrentRun.existing()
        .filter(own -> members(own.bridgeRun(), own.group()).isEmpty())
        .ifPresent(own -> CurrentRun.end());
  }

  /** All visible processes that this bridge has started, directly or indirectly. */
  static List<ProcFs.Stat> ownProcesses() {
    long self = ProcessHandle.current().pid();
    Set<ProcFs.Stat> family =
        CurrentRun.existing()
            .map(own -> new HashSet<>(members(own.bridgeRun(), own.group())))
            .orElse(new HashSet<>());
    List<ProcFs.Stat> all = ProcFs.find(stat -> true);
    all.stream().filter(stat -> stat.parent() == self).forEach(family::add);
    return ProcFs.withDescendants(family, all);
  }

  private static int endDead(RunFiles.DeadRun deadRun) {
    int ended = killOrphans(deadRun.bridgeRun(), deadRun.group());
    deadRun.group().ifPresent(Orphans::remove);
    return ended;
  }

  private static int killOrphans(BridgeRun bridgeRun, Optional<ControlGroup> group) {
    List<ProcFs.Stat> members = members(bridgeRun, group);
    group.ifPresent(ControlGroup::kill);
    members.forEach(member -> member.handle().ifPresent(ProcessHandle::destroyForcibly));
    return members.size();
  }

  private static List<ProcFs.Stat> members(BridgeRun bridgeRun, Optional<ControlGroup> group) {
    Set<Long> grouped = group.map(ControlGroup::members).orElse(new HashSet<>());
    return ProcFs.find(
        stat ->
            grouped.contains(stat.pid())
                || ProcessMark.of(stat.pid())
                    .filter(mark -> mark.bridgeRun().equals(bridgeRun))
                    .isPresent());
  }

  /** Retries, since the kernel needs a moment to reap the members. */
  private static void remove(ControlGroup group) {
    for (int round = 0; round < REMOVAL_ROUNDS && !group.remove(); round++) {
      LockSupport.parkNanos(REMOVAL_NANOS);
    }
  }
}
