package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A list that is sent in pages. A cursor is opaque, and valid until the list that it came from
 * changes.
 *
 * @param member name of the list in a response
 * @param digest changes with the list
 */
public record PagedList(String member, List<JsonSlice> entries, String digest) {
  private static final int MAX_LIMIT = 1000;
  private static final int DEFAULT_LIMIT = 100;

  /** Sends the requested page; an invalid cursor fails the request. */
  public void answer(RoutingContext ctx) {
    try {
      JsonWriter out = new JsonWriter(2048).beginObject();
      write(out, ctx);
      Replies.json(ctx, 200, out.endObject());
    } catch (BridgeException e) {
      ctx.fail(e);
    }
  }

  /** Writes the page of {@code ?limit=} and {@code ?cursor=}; without both, the whole list. */
  public void write(JsonWriter out, RoutingContext ctx) {
    String cursor = Queries.single(ctx, "cursor");
    int offset =
        cursor == null
            ? 0
            : offset(cursor)
                .orElseThrow(
                    () -> malformed("The 'cursor' is invalid or expired; start without a cursor"));
    int unlimited = cursor == null ? entries.size() : DEFAULT_LIMIT;
    write(out, offset, limit(ctx, unlimited));
  }

  /** Writes the entries of a page and the cursor of the next one. */
  public void write(JsonWriter out, int offset, int limit) {
    int to = Math.min(entries.size(), offset + limit);
    out.name(member).beginArray();
    entries.subList(offset, to).forEach(out::value);
    out.endArray();
    if (to < entries.size()) {
      byte[] next = (to + "." + digest).getBytes(StandardCharsets.UTF_8);
      out.member("nextCursor", Base64.getUrlEncoder().withoutPadding().encodeToString(next));
    }
  }

  /** The offset of a page; empty if its cursor is malformed or came from another list. */
  public Optional<Integer> offset(String cursor) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      int dot = text.indexOf('.');
      int offset = Integer.parseInt(text.substring(0, dot));
      boolean isOfThis = text.substring(dot + 1).equals(digest);
      return Optional.of(offset).filter(at -> isOfThis && at >= 0 && at < entries.size());
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }

  /** The parameter {@code limit}, from 1 to 1,000. */
  public static int limit(RoutingContext ctx, int absent) {
    String limit = Queries.single(ctx, "limit");
    try {
      int number = limit == null ? absent : Integer.parseInt(limit);
      if (limit == null || number >= 1 && number <= MAX_LIMIT) {
        return number;
      }
    } catch (NumberFormatException e) {
      // rejected below, like a number out of range
    }
    throw malformed("'limit' must be an integer from 1 to " + MAX_LIMIT);
  }

  private static BridgeException malformed(String detail) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, detail);
  }
}
