package dev.mcpbridge.protocol;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The bridges that a request has passed, or over which an entry of a list is reached, in their
 * order. With it a bridge notices what comes round to itself, as networks do with the path of
 * autonomous systems (RFC 4271 section 9.1.2) and proxies with Via (RFC 9110 section 7.6.3).
 *
 * @param bridges their ids
 */
public record BridgePath(List<String> bridges) {
  public static final BridgePath NONE = new BridgePath(List.of());

  public BridgePath {
    bridges = List.copyOf(bridges);
  }

  /** Of the members of a {@code _meta}; what is no list of texts is none. */
  public static BridgePath of(Map<String, JsonSlice> meta) {
    JsonSlice via = meta.get(MetaKeys.VIA);
    return via == null
        ? NONE
        : new BridgePath(
            JsonObjects.elements(via).stream()
                .map(JsonObjects::string)
                .filter(Objects::nonNull)
                .toList());
  }

  /** Over which an entry of a list is reached. */
  public static BridgePath to(JsonSlice entry) {
    JsonSlice meta = JsonObjects.members(entry).get("_meta");
    return meta == null ? NONE : of(JsonObjects.members(meta));
  }

  public boolean isEmpty() {
    return bridges.isEmpty();
  }

  public boolean passes(String bridge) {
    return bridges.contains(bridge);
  }

  /** With one more bridge at its end. */
  public BridgePath then(String bridge) {
    return new BridgePath(Stream.concat(bridges.stream(), Stream.of(bridge)).toList());
  }

  /** With one more bridge before it. */
  public BridgePath after(String bridge) {
    return new BridgePath(Stream.concat(Stream.of(bridge), bridges.stream()).toList());
  }

  public JsonSlice toJson() {
    JsonWriter out = new JsonWriter().beginArray();
    bridges.forEach(out::value);
    return out.endArray().toSlice();
  }

  /** The entries that are not reached over a bridge which the request for them has passed. */
  public List<JsonSlice> withoutDetours(List<JsonSlice> entries) {
    if (isEmpty()) {
      return entries;
    }
    Set<String> passed = new HashSet<>(bridges);
    return entries.stream()
        .filter(entry -> to(entry).bridges.stream().noneMatch(passed::contains))
        .toList();
  }

  /** What a bridge lists as others see it: each entry with the way over it, none over this one. */
  public static List<JsonSlice> over(String bridge, String self, List<JsonSlice> entries) {
    List<JsonSlice> reached = new ArrayList<>();
    for (JsonSlice entry : entries) {
      Map<String, JsonSlice> members = JsonObjects.members(entry);
      JsonSlice meta = members.getOrDefault("_meta", JsonSlice.EMPTY_OBJECT);
      BridgePath way = of(JsonObjects.members(meta)).after(bridge);
      if (!way.passes(self)) {
        members.put("_meta", JsonObjects.with(meta, MetaKeys.VIA, way.toJson()));
        reached.add(JsonObjects.object(members));
      }
    }
    return reached;
  }
}
