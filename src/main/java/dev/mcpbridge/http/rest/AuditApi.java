package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** GET /audit: searches the audit trails of all nodes, the newest record first. */
public record AuditApi(Bus bus, Cluster cluster) {
  private static final int DEFAULT_LIMIT = 100;
  private static final long MISSING = -1;

  /**
   * What a node has found.
   *
   * @param next number below which its search goes on; 0 at its end
   */
  private record Results(String node, List<Result> records, long next) {}

  private record Result(long seq, Instant at, JsonSlice line) {
    static Result of(JsonNode record) {
      return new Result(
          record.path("seq").asLong(),
          Instant.parse(record.path("at").asText()),
          Json.slice(record));
    }
  }

  /** GET /audit. */
  public void search(RoutingContext ctx) {
    Map<String, Integer> nodes = nodes();
    AuditQuery query = query(ctx);
    Map<String, Long> position = position(ctx, nodes);
    record(ctx);
    List<Future<Results>> asked = new ArrayList<>();
    position.forEach((node, before) -> asked.add(ask(node, nodes.get(node), query, before)));
    Future.join(asked).onComplete(all -> answer(ctx, query, position, asked));
  }

  /** The slots of the nodes by their names; a node that decides and is not a member has none. */
  private Map<String, Integer> nodes() {
    if (cluster.isAlone() && !bus.isServed(AuditSearches.at(0))) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "No audit trail is configured");
    }
    Map<String, Integer> nodes = new HashMap<>();
    Cluster.View view = cluster.view();
    view.voters().stream()
        .filter(voter -> view.members().stream().noneMatch(each -> each.address().equals(voter)))
        .forEach(voter -> nodes.put(voter, null));
    view.members().forEach(member -> nodes.put(member.name(), member.slot()));
    if (cluster.isAlone()) {
      nodes.put("", 0);
    }
    return nodes;
  }

  private static AuditQuery query(RoutingContext ctx) {
    Map<String, String> members = new TreeMap<>();
    for (String member : AuditQuery.MEMBERS) {
      String value = Queries.single(ctx, member);
      if (value != null) {
        members.put(member, value);
      }
    }
    return new AuditQuery(
        members,
        Queries.single(ctx, "principal"),
        time(ctx, "since", 0),
        time(ctx, "until", Long.MAX_VALUE),
        Long.MAX_VALUE,
        PagedList.limit(ctx, DEFAULT_LIMIT));
  }

  private static long time(RoutingContext ctx, String name, long absent) {
    String text = Queries.single(ctx, name);
    try {
      return text == null ? absent : Math.max(0, AuditQuery.time(text).toEpochMilli());
    } catch (DateTimeException | ArithmeticException e) {
      throw malformed("'" + name + "' must be a day or a time such as 2026-01-31T12:00:00Z");
    }
  }

  /** Below which number the search goes on at each node; {@link #MISSING} without an answer. */
  private static Map<String, Long> position(RoutingContext ctx, Map<String, Integer> nodes) {
    Map<String, Long> position = new TreeMap<>();
    String cursor = Queries.single(ctx, "cursor");
    if (cursor == null) {
      nodes.keySet().forEach(node -> position.put(node, Long.MAX_VALUE));
      return position;
    }
    try {
      JsonNode read = Json.tree(Base64.getUrlDecoder().decode(cursor));
      read.properties().forEach(node -> position.put(node.getKey(), node.getValue().asLong(1)));
    } catch (IOException | IllegalArgumentException e) {
      // rejected below
    }
    if (position.isEmpty()) {
      throw malformed("The 'cursor' is invalid; start without a cursor");
    }
    return position;
  }

  private static BridgeException malformed(String detail) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, detail);
  }

  private void record(RoutingContext ctx) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            new AuditRecord("audit.read")
                .with("principal", Callers.of(ctx).name())
                .with("address", Callers.share(ctx))
                .with("query", ctx.request().query()));
  }

  /**
   * @param slot null if it is not a member
   */
  private Future<Results> ask(String node, Integer slot, AuditQuery query, long before) {
    if (before <= 1 && before != MISSING) {
      return Future.succeededFuture(new Results(node, List.of(), 0));
    }
    if (slot == null || before == MISSING) {
      return Future.succeededFuture(new Results(node, List.of(), MISSING));
    }
    return bus.request(AuditSearches.at(slot), query.withBefore(before))
        .map(found -> results(node, found))
        .recover(
            failure ->
                cluster.isAlone()
                    ? Future.failedFuture(failure)
                    : Future.succeededFuture(new Results(node, List.of(), MISSING)));
  }

  private static Results results(String node, JsonSlice found) {
    try {
      JsonNode page = Json.exactTree(found);
      List<Result> records = page.path("records").valueStream().map(Result::of).toList();
      return new Results(node, records, page.path("next").asLong());
    } catch (IOException e) {
      throw new BridgeException(ErrorCode.INTERNAL, "The node " + node + " has sent no JSON", e);
    }
  }

  private static void answer(
      RoutingContext ctx, AuditQuery query, Map<String, Long> before, List<Future<Results>> asked) {
    for (Future<Results> each : asked) {
      if (each.failed()) {
        ctx.fail(each.cause());
        return;
      }
    }
    List<Results> all = asked.stream().map(Future::result).toList();
    JsonWriter out = new JsonWriter(4096).beginObject().name("records").beginArray();
    Map<String, Long> position = merge(out, all, query.limit(), new TreeMap<>(before));
    out.endArray().name("missing_nodes").beginArray();
    all.stream().filter(each -> each.next() == MISSING).forEach(each -> out.value(each.node()));
    out.endArray();
    if (position.values().stream().anyMatch(next -> next > 1)) {
      out.member("nextCursor", cursor(position));
    }
    Replies.json(ctx, 200, out.endObject());
  }

  /**
   * Writes the newest of all results. It ends where a node may have more that are newer than those
   * of the other nodes.
   *
   * @return where the search goes on
   */
  private static Map<String, Long> merge(
      JsonWriter out, List<Results> all, int limit, Map<String, Long> position) {
    Map<String, Integer> taken = new HashMap<>();
    for (int written = 0; written <= limit; written++) {
      Results newest =
          all.stream()
              .filter(each -> each.next() > 0 || hasMore(each, taken))
              .max(Comparator.comparing(each -> newestTime(each, taken)))
              .orElse(null);
      if (newest == null) {
        all.forEach(each -> position.put(each.node(), each.next()));
        return position;
      }
      if (!hasMore(newest, taken) || written == limit) {
        break;
      }
      Result result = newest.records().get(taken.merge(newest.node(), 1, Integer::sum) - 1);
      out.value(result.line());
      position.put(newest.node(), result.seq());
    }
    for (Results each : all) {
      if (!hasMore(each, taken)) {
        position.put(each.node(), each.next());
      }
    }
    return position;
  }

  private static boolean hasMore(Results results, Map<String, Integer> taken) {
    return taken.getOrDefault(results.node(), 0) < results.records().size();
  }

  /** Later than all times if what comes next is not known yet. */
  private static Instant newestTime(Results results, Map<String, Integer> taken) {
    int next = taken.getOrDefault(results.node(), 0);
    return hasMore(results, taken) ? results.records().get(next).at() : Instant.MAX;
  }

  private static String cursor(Map<String, Long> position) {
    ObjectNode json = Json.object();
    position.forEach((node, next) -> json.put(node, Objects.requireNonNull(next)));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.slice(json).toBytes());
  }
}
