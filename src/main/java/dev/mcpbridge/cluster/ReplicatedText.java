package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Optional;

/**
 * A text that is replicated to all nodes; the newest version wins. Confined to the event loop,
 * except {@link #known()}.
 */
public final class ReplicatedText {
  private static final String KEY = "text";

  private final SharedMap map;
  private volatile Version known;

  /**
   * @param millis time of the change, on the wall clock of the node that made it
   */
  public record Version(String text, long millis) {
    byte[] toBytes() {
      return new WireWriter().number(millis).text(text).toBytes();
    }

    static Version of(Item item) {
      if (!item.isPresent()) {
        return null;
      }
      WireReader in = new WireReader(item.value());
      long millis = in.number();
      return new Version(in.text(), millis);
    }
  }

  /**
   * @param map a map that holds nothing else
   */
  public ReplicatedText(SharedMap map) {
    this.map = map;
    map.onChange(() -> known = Version.of(map.cached(KEY)));
  }

  /** The newest version that this node has received. Thread-safe. */
  public Optional<Version> known() {
    return Optional.ofNullable(known);
  }

  /**
   * Proposes a version unless a newer one is known. The proposal may be lost: repeat it until the
   * version is known.
   */
  public void offer(String text, long millis) {
    Item item = map.cached(KEY);
    Version last = Version.of(item);
    if (last == null || last.millis() < millis) {
      map.put(
          KEY, item.version(), new Version(text, millis).toBytes(), Long.MAX_VALUE, Eviction.NEVER);
    }
  }
}
