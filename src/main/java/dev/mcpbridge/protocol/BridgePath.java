package dev.mcpbridge.protocol;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The bridges that a request has passed, or through which a list entry is reached, in order. A
 * bridge uses it to detect loops, as networks do with the AS path (RFC 4271 section 9.1.2) and
 * proxies with Via (RFC 9110 section 7.6.3).
 *
 * @param bridges ids of the bridges
 */
public record BridgePath(List<String> bridges) {
  public static final BridgePath NONE = new BridgePath(List.of());

  public BridgePath {
    bridges = List.copyOf(bridges);
  }

  /** The path in the members of a {@code _meta}; elements that are not strings are ignored. */
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

  /** The path through which a list entry is reached. */
  public static BridgePath ofEntry(JsonSlice entry) {
    JsonSlice meta = JsonObjects.members(entry).get("_meta");
    return meta == null ? NONE : of(JsonObjects.members(meta));
  }

  public boolean isEmpty() {
    return bridges.isEmpty();
  }

  public boolean passes(String bridge) {
    return bridges.contains(bridge);
  }

  /** This path with a bridge appended. */
  public BridgePath append(String bridge) {
    return new BridgePath(Stream.concat(bridges.stream(), Stream.of(bridge)).toList());
  }

  /** This path with a bridge prepended. */
  public BridgePath prepend(String bridge) {
    return new BridgePath(Stream.concat(Stream.of(bridge), bridges.stream()).toList());
  }

  public JsonSlice toJson() {
    JsonWriter out = new JsonWriter().beginArray();
    bridges.forEach(out::value);
    return out.endArray().toSlice();
  }

  /** The entries whose path contains none of the bridges on this path. */
  public List<JsonSlice> withoutLoops(List<JsonSlice> entries) {
    if (isEmpty()) {
      return entries;
    }
    Set<String> passed = new HashSet<>(bridges);
    return entries.stream()
        .filter(entry -> ofEntry(entry).bridges.stream().noneMatch(passed::contains))
        .toList();
  }

  /** Prepends a bridge to the path of each entry it lists; drops entries that lead back to self. */
  public static List<JsonSlice> over(String bridge, String self, List<JsonSlice> entries) {
    List<JsonSlice> reached = new ArrayList<>();
    for (JsonSlice entry : entries) {
      Map<String, JsonSlice> members = JsonObjects.members(entry);
      JsonSlice meta = members.getOrDefault("_meta", JsonSlice.EMPTY_OBJECT);
      BridgePath path = of(JsonObjects.members(meta)).prepend(bridge);
      if (!path.passes(self)) {
        members.put("_meta", JsonObjects.with(meta, MetaKeys.VIA, path.toJson()));
        reached.add(JsonObjects.object(members));
      }
    }
    return reached;
  }
}
