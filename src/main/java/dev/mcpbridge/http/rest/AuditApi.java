package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.AuditSearches;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** GET /audit: searches the audit trails of all nodes, the newest record first. */
public record AuditApi(Bus bus, Cluster cluster, EveryNode nodes) {
  private static final int DEFAULT_LIMIT = 100;

  /** The place in the trail of a node that has not answered. */
  private static final long MISSING = -1;

  public AuditApi(Bus bus, Cluster cluster) {
    this(bus, cluster, new EveryNode(bus, cluster));
  }

  /** GET /audit. */
  public void search(RoutingContext ctx) {
    if (cluster.isAlone() && !bus.isServed(AuditSearches.OWN)) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "No audit trail is configured");
    }
    Map<String, Address<AuditSearches.Request, AuditPage>> addresses =
        nodes.addresses(AuditSearches.OWN, AuditSearches::at);
    AuditQuery query = query(ctx);
    Map<String, Long> position = position(ctx, addresses.keySet());
    bus.offer(
        Addresses.AUDIT,
        () -> Callers.auditRecord(ctx, "audit.read").with("query", ctx.request().query()));
    Map<String, AuditPage> pages = new TreeMap<>();
    List<Future<?>> asked = new ArrayList<>();
    position.forEach(
        (node, before) ->
            asked.add(
                page(addresses.get(node), Callers.share(ctx), query, before)
                    .onSuccess(page -> page.ifPresent(found -> pages.put(node, found)))));
    Future.join(asked)
        .onSuccess(all -> answer(ctx, query.limit(), position, pages))
        .onFailure(ctx::fail);
  }

  private static AuditQuery query(RoutingContext ctx) {
    Map<String, String> members = new TreeMap<>();
    for (String member : AuditQuery.MEMBERS) {
      String value = text(ctx, member);
      if (value != null) {
        members.put(member, value);
      }
    }
    return new AuditQuery(
        members,
        text(ctx, "principal"),
        time(ctx, "since", 0),
        time(ctx, "until", Long.MAX_VALUE),
        Long.MAX_VALUE,
        PagedList.limit(ctx, DEFAULT_LIMIT));
  }

  private static String text(RoutingContext ctx, String name) {
    String text = Queries.single(ctx, name);
    if (text != null && text.isEmpty()) {
      throw malformed("'" + name + "' must not be empty");
    }
    return text;
  }

  private static long time(RoutingContext ctx, String name, long absent) {
    String text = Queries.single(ctx, name);
    try {
      return text == null ? absent : Math.max(0, AuditQuery.time(text).toEpochMilli());
    } catch (DateTimeException | ArithmeticException e) {
      throw malformed("'" + name + "' must be a day or a time such as 2026-01-31T12:00:00Z");
    }
  }

  /**
   * Below which number the search goes on at each node. A node that has no place in the cursor has
   * joined since, and is missing.
   */
  private static Map<String, Long> position(RoutingContext ctx, Iterable<String> nodes) {
    Map<String, Long> position = new TreeMap<>();
    String cursor = Queries.single(ctx, "cursor");
    if (cursor != null) {
      read(cursor, position);
    }
    nodes.forEach(node -> position.putIfAbsent(node, cursor == null ? Long.MAX_VALUE : MISSING));
    return position;
  }

  private static void read(String cursor, Map<String, Long> position) {
    try {
      JsonNode read = Json.tree(Base64.getUrlDecoder().decode(cursor));
      read.properties().forEach(node -> position.put(node.getKey(), node.getValue().asLong()));
    } catch (IOException | IllegalArgumentException e) {
      // rejected below
    }
    if (position.isEmpty()) {
      throw malformed("The 'cursor' is invalid; start without a cursor");
    }
  }

  private static BridgeException malformed(String detail) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, detail);
  }

  /**
   * The page of a node; empty if it is missing.
   *
   * @param node null if it cannot be asked
   */
  private Future<Optional<AuditPage>> page(
      Address<AuditSearches.Request, AuditPage> node,
      String caller,
      AuditQuery query,
      long before) {
    return before == 0
        ? Future.succeededFuture(Optional.of(new AuditPage(List.of(), 0)))
        : nodes.ask(
            before < 0 ? null : node, new AuditSearches.Request(caller, query.withBefore(before)));
  }

  private static void answer(
      RoutingContext ctx, int limit, Map<String, Long> position, Map<String, AuditPage> found) {
    AuditPages pages = new AuditPages(found);
    JsonWriter out = new JsonWriter(4096).beginObject().name("records").beginArray();
    pages.take(limit).forEach(out::value);
    out.endArray().name("missing_nodes").beginArray();
    position.keySet().stream().filter(node -> !found.containsKey(node)).forEach(out::value);
    out.endArray();
    position.replaceAll((node, before) -> found.containsKey(node) ? pages.next(node) : MISSING);
    if (position.values().stream().anyMatch(next -> next > 0)) {
      out.member("nextCursor", cursor(position));
    }
    Replies.json(ctx, 200, out.endObject());
  }

  private static String cursor(Map<String, Long> position) {
    ObjectNode json = Json.object();
    position.forEach((node, next) -> json.put(node, next));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.slice(json).toBytes());
  }
}
