package dev.mcpbridge.http.rest;

import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The pages of several audit trails as one, the newest record first. Not thread-safe. */
final class AuditPages {
  private final Map<String, AuditPage> pages;
  private final Map<String, Integer> taken = new HashMap<>();

  /**
   * @param pages by the names of the nodes
   */
  AuditPages(Map<String, AuditPage> pages) {
    this.pages = pages;
  }

  /**
   * The newest records. There may be fewer although a search is not at its end: a node may have
   * records that it has not found yet, and that are newer than those of the others.
   */
  List<JsonSlice> take(int limit) {
    List<JsonSlice> records = new ArrayList<>();
    String node = newest();
    while (records.size() < limit && node != null && hasMore(node)) {
      records.add(pages.get(node).lines().get(taken(node)).text());
      taken.merge(node, 1, Integer::sum);
      node = newest();
    }
    return records;
  }

  /** Number below which the search goes on at a node; 0 at its end. */
  long next(String node) {
    AuditPage page = pages.get(node);
    if (!hasMore(node)) {
      return page.next();
    }
    return page.lines().get(taken(node)).seq() + 1;
  }

  /** The node with the newest record that was not taken; null after the last one. */
  private String newest() {
    return pages.keySet().stream()
        .filter(node -> hasMore(node) || pages.get(node).next() > 0)
        .max(Comparator.comparingLong(this::time))
        .orElse(null);
  }

  /** Later than all times if what comes next is not known yet. */
  private long time(String node) {
    return hasMore(node) ? pages.get(node).lines().get(taken(node)).atMillis() : Long.MAX_VALUE;
  }

  private boolean hasMore(String node) {
    return taken(node) < pages.get(node).lines().size();
  }

  private int taken(String node) {
    return taken.getOrDefault(node, 0);
  }
}
