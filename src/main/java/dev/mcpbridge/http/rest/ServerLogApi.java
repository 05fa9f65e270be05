package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.ServerLogs;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.LogLine;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** GET /servers/{server}/log: what all instances of a server have written to stderr. */
public record ServerLogApi(Bus bus, AccessControl access, StreamSlots streams) {
  private static final int DEFAULT_LIMIT = 200;

  /** Lines of one answer of an instance; a stream reads on until it has all. */
  private static final int MAX_POLLED = 100;

  private static final long POLL_MILLIS = 500;

  private record Found(int instance, LogLine line) {}

  /** Sends the last lines, or with {@code Accept: text/event-stream} also those that follow. */
  public void show(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    ServerId server = Paths.server(ctx);
    long after = after(ctx);
    int limit = PagedList.limit(ctx, DEFAULT_LIMIT);
    access
        .find(caller, server)
        .onSuccess(
            view -> {
              if (EventStream.isWanted(ctx)) {
                new Follower(streams.listen(ctx, Compressed.RESULTS), caller, server, after)
                    .poll(limit);
              } else {
                read(view, new HashMap<>(), after, limit)
                    .onSuccess(lines -> Replies.json(ctx, 200, json(lines)))
                    .onFailure(ctx::fail);
              }
            })
        .onFailure(ctx::fail);
  }

  private static long after(RoutingContext ctx) {
    String after = Queries.single(ctx, "after");
    try {
      return after == null ? 0 : Long.parseUnsignedLong(after);
    } catch (NumberFormatException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "'after' must be the number of a line");
    }
  }

  /**
   * Reads from all instances; an instance that does not answer is left out.
   *
   * @param positions the last numbers that were sent, by instance
   * @param after for instances without a position; 0 for their last lines
   */
  private Future<List<Found>> read(
      ServerView server, Map<Integer, Long> positions, long after, int limit) {
    List<Found> found = new ArrayList<>();
    List<Future<?>> asked = new ArrayList<>();
    for (InstanceLocation location : server.locations()) {
      int instance = location.instance();
      ServerLogs.Query query = new ServerLogs.Query(positions.getOrDefault(instance, after), limit);
      asked.add(
          bus.request(ServerLogs.at(new InstanceId(server.id(), instance)), query)
              .onSuccess(lines -> lines.forEach(line -> found.add(new Found(instance, line)))));
    }
    return Future.join(asked)
        .transform(
            done -> {
              found.sort((one, other) -> Long.compare(one.line.number(), other.line.number()));
              int from = after == 0 ? Math.max(0, found.size() - limit) : 0;
              return Future.succeededFuture(
                  found.subList(from, Math.min(found.size(), from + limit)));
            });
  }

  private static JsonWriter json(List<Found> lines) {
    JsonWriter out = new JsonWriter(4096).beginObject().name("lines").beginArray();
    lines.forEach(line -> out.value(json(line)));
    return out.endArray().endObject();
  }

  private static JsonSlice json(Found found) {
    LogLine line = found.line;
    JsonWriter out =
        new JsonWriter(256)
            .beginObject()
            .member("number", line.number())
            .member("at", Instant.ofEpochMilli(line.atMillis()).toString())
            .member("instance", found.instance)
            .member("stream", line.stream());
    if (line.pid() != 0) {
      out.member("pid", line.pid());
    }
    return out.member("text", line.text()).endObject().toSlice();
  }

  /** Sends new lines until its client leaves or does not see the server any longer. */
  private final class Follower {
    private final EventStream stream;
    private final Principal caller;
    private final ServerId server;
    private long after;
    private final Map<Integer, Long> positions = new HashMap<>();
    private boolean isClosed;

    Follower(EventStream stream, Principal caller, ServerId server, long after) {
      this.stream = stream;
      this.caller = caller;
      this.server = server;
      this.after = after;
      stream.onClose(() -> isClosed = true);
    }

    void poll(int limit) {
      access
          .find(caller, server)
          .compose(view -> read(view, positions, after, limit))
          .onSuccess(
              lines -> {
                after = Math.max(1, after);
                lines.forEach(found -> positions.put(found.instance, found.line.number()));
                lines.forEach(
                    found ->
                        stream.send(
                            Long.toString(found.line.number()), "line", json(found), false));
                if (!isClosed) {
                  boolean isMore = lines.size() >= MAX_POLLED;
                  bus.later(isMore ? 1 : POLL_MILLIS, () -> poll(MAX_POLLED));
                }
              })
          .onFailure(gone -> stream.end());
    }
  }
}
