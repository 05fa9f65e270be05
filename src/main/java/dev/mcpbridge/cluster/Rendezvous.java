package dev.mcpbridge.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * In which order several should have something: by score (Thaler and Ravishankar 1998), so that one
 * who comes or goes changes the order of no others.
 */
final class Rendezvous {
  private Rendezvous() {}

  /** The first is who should have it before all others. */
  static List<Member> row(String what, Collection<Member> among) {
    return among.stream()
        .sorted(
            Comparator.<Member>comparingLong(member -> score(what, member.slot()))
                .thenComparing(Member::slot)
                .reversed())
        .toList();
  }

  /** FNV-1a of the name, stirred with the slot (the finalizer of SplitMix64). */
  private static long score(String what, int slot) {
    long hash = 0xcbf29ce484222325L;
    for (byte octet : what.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ octet & 0xFF) * 0x100000001b3L;
    }
    hash += (slot + 1) * 0x9e3779b97f4a7c15L;
    hash = (hash ^ hash >>> 30) * 0xbf58476d1ce4e5b9L;
    hash = (hash ^ hash >>> 27) * 0x94d049bb133111ebL;
    return (hash ^ hash >>> 31) >>> 1;
  }
}
