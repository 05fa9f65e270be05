package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.SharedMap.Keep;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Optional;

/** A text of which all nodes have the newest version. Confined to the event loop but for looks. */
public final class ReplicatedText {
  private static final String KEY = "text";

  private final SharedMap map;
  private volatile Version known;

  /**
   * @param millis since when it is so, on the wall clock of whoever changed it
   */
  public record Version(String text, long millis) {
    byte[] toBytes() {
      return new WireWriter().number(millis).text(text).toBytes();
    }

    static Version of(Item item) {
      if (!item.isThere()) {
        return null;
      }
      WireReader in = new WireReader(item.value());
      long millis = in.number();
      return new Version(in.text(), millis);
    }
  }

  /**
   * @param map that holds nothing else
   */
  public ReplicatedText(SharedMap map) {
    this.map = map;
    map.onChange(() -> known = Version.of(map.known(KEY)));
  }

  /** For any thread. */
  public Optional<Version> known() {
    return Optional.ofNullable(known);
  }

  /**
   * Is the newest from now on, unless a newer one is known. May come to nothing: it is to be
   * offered until it is known.
   */
  public void offer(String text, long millis) {
    Item item = map.known(KEY);
    Version last = Version.of(item);
    if (last == null || last.millis() < millis) {
      map.put(KEY, item.version(), new Version(text, millis).toBytes(), Long.MAX_VALUE, Keep.FIRM);
    }
  }
}
