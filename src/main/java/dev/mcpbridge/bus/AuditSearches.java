package dev.mcpbridge.bus;

import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The addresses and messages of searches in audit trails. */
public final class AuditSearches {
  private static final String OPERATION = "audit.search";
  private static final long TIMEOUT_MILLIS = 30_000;

  private static final WireCodec<Request> REQUEST =
      new WireCodec<>(
          (out, request) -> query(out.text(request.caller()), request.query()),
          in -> new Request(in.text(), query(in)));

  private static final WireCodec<AuditPage> PAGE =
      new WireCodec<>(
          (out, page) ->
              out.list(
                      page.lines(),
                      (w, line) ->
                          WireCodecs.json(
                              w.number(line.seq()).number(line.atMillis()), line.text()))
                  .number(page.next()),
          in ->
              new AuditPage(
                  in.list(
                      each ->
                          new AuditPage.Line(each.number(), each.number(), WireCodecs.json(each))),
                  in.number()));

  /** The trail of this node. Served only if there is one. */
  public static final Address<Request, AuditPage> OWN = Address.local(OPERATION);

  private AuditSearches() {}

  /**
   * A search.
   *
   * @param caller key under which it counts towards the searches of its caller
   */
  public record Request(String caller, AuditQuery query) {}

  /** The trail of a node. */
  public static Address<Request, AuditPage> at(int slot) {
    return new Address<>(
        OPERATION, AddressScope.node(slot), REQUEST, PAGE, request -> TIMEOUT_MILLIS);
  }

  private static WireWriter query(WireWriter out, AuditQuery query) {
    return out.list(query.members().entrySet(), (w, m) -> w.text(m.getKey()).text(m.getValue()))
        .optional(query.principal(), WireWriter::text)
        .number(query.sinceMillis())
        .number(query.untilMillis())
        .number(query.before())
        .number(query.limit());
  }

  private static AuditQuery query(WireReader in) {
    Map<String, String> members = new TreeMap<>();
    List<Map.Entry<String, String>> entries = in.list(each -> Map.entry(each.text(), each.text()));
    entries.forEach(entry -> members.put(entry.getKey(), entry.getValue()));
    return new AuditQuery(
        members,
        in.optional(WireReader::text),
        in.number(),
        in.number(),
        in.number(),
        (int) in.number());
  }
}
