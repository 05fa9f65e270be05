package dev.mcpbridge.dialect;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects what a reduction removes or relaxes. */
final class ReductionReport {
  private final Set<String> all = new LinkedHashSet<>();

  ReductionReport() {}

  /** Starts with a copy of another report. */
  ReductionReport(ReductionReport other) {
    all.addAll(other.all);
  }

  /**
   * @param pointer location as a JSON Pointer
   */
  void add(String pointer, String loss) {
    all.add((pointer.isEmpty() ? "/" : pointer) + ": " + loss);
  }

  List<String> all() {
    return List.copyOf(all);
  }
}
