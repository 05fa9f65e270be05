package dev.mcpbridge.limit;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that drops its oldest entry when it exceeds its limit. Not thread-safe. */
public final class BoundedMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  private final int limit;

  public BoundedMap(int limit) {
    this.limit = limit;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > limit;
  }
}
