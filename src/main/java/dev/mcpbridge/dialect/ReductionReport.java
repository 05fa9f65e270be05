package dev.mcpbridge.dialect;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What a reduction says no more, as far as it has come. */
final class ReductionReport {
  private final Set<String> all = new LinkedHashSet<>();

  ReductionReport() {}

  /** Goes on from others, which stay as they are. */
  ReductionReport(ReductionReport before) {
    all.addAll(before.all);
  }

  /**
   * @param place a JSON Pointer
   */
  void add(String place, String what) {
    all.add((place.isEmpty() ? "/" : place) + ": " + what);
  }

  List<String> all() {
    return List.copyOf(all);
  }
}
