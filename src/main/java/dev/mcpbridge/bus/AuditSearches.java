package dev.mcpbridge.bus;

import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The address of searches in audit trails. */
public final class AuditSearches {
  private static final long TIMEOUT_MILLIS = 30_000;

  private static final WireCodec<AuditQuery> QUERY =
      new WireCodec<>(
          (out, query) ->
              out.list(query.members().entrySet(), (w, m) -> w.text(m.getKey()).text(m.getValue()))
                  .optional(query.principal(), WireWriter::text)
                  .number(query.sinceMillis())
                  .number(query.untilMillis())
                  .number(query.before())
                  .number(query.limit()),
          in ->
              new AuditQuery(
                  members(in.list(each -> Map.entry(each.text(), each.text()))),
                  in.optional(WireReader::text),
                  in.number(),
                  in.number(),
                  in.number(),
                  (int) in.number()));

  private AuditSearches() {}

  private static Map<String, String> members(List<Map.Entry<String, String>> entries) {
    Map<String, String> members = new TreeMap<>();
    entries.forEach(entry -> members.put(entry.getKey(), entry.getValue()));
    return members;
  }

  /**
   * Searches the trail of a node. The response has {@code records}, the newest first, and {@code
   * next}, the number below which the search goes on, or 0. Served only if there is a trail.
   */
  public static Address<AuditQuery, JsonSlice> at(int slot) {
    return new Address<>(
        "audit.search", AddressScope.node(slot), QUERY, WireCodecs.JSON, query -> TIMEOUT_MILLIS);
  }
}
