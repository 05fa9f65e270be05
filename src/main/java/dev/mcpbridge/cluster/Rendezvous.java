package dev.mcpbridge.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Rendezvous hashing (Thaler and Ravishankar 1998): ranks members by score, so that a member that
 * joins or leaves does not change the order of the others.
 */
final class Rendezvous {
  private Rendezvous() {}

  /** The members by rank for a key, the preferred one first. */
  static List<Member> rank(String key, Collection<Member> members) {
    return members.stream()
        .sorted(
            Comparator.<Member>comparingLong(member -> score(key, member.slot()))
                .thenComparing(Member::slot)
                .reversed())
        .toList();
  }

  /** FNV-1a of the key, mixed with the slot (the finalizer of SplitMix64). */
  private static long score(String key, int slot) {
    long hash = 0xcbf29ce484222325L;
    for (byte octet : key.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ octet & 0xFF) * 0x100000001b3L;
    }
    hash += slot * 0x9e3779b97f4a7c15L;
    hash = (hash ^ hash >>> 30) * 0xbf58476d1ce4e5b9L;
    hash = (hash ^ hash >>> 27) * 0x94d049bb133111ebL;
    return (hash ^ hash >>> 31) >>> 1;
  }
}
