package dev.mcpbridge.http.rest;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * A page of a list: the whole list unless {@code ?limit=} or {@code ?cursor=} is given. A cursor is
 * opaque, and valid until the list that it came from changes.
 *
 * @param limit 0 for no limit
 */
record Page(int offset, int limit) {
  private static final int MAX_LIMIT = 1000;
  private static final int DEFAULT_LIMIT = 100;

  static Page of(RoutingContext ctx, String digest) {
    String cursor = Queries.single(ctx, "cursor");
    String limit = Queries.single(ctx, "limit");
    if (cursor == null) {
      return new Page(0, limit == null ? 0 : number(limit));
    }
    return new Page(offset(cursor, digest), limit == null ? DEFAULT_LIMIT : number(limit));
  }

  /** Sends the requested page; an invalid cursor fails the request. */
  static void answer(RoutingContext ctx, String member, List<JsonSlice> all, String digest) {
    try {
      JsonWriter out = new JsonWriter(2048).beginObject();
      of(ctx, digest).write(out, member, all, digest);
      Replies.json(ctx, 200, out.endObject());
    } catch (BridgeException e) {
      ctx.fail(e);
    }
  }

  /** Writes the entries of this page and the cursor of the next one. */
  void write(JsonWriter out, String member, List<JsonSlice> all, String digest) {
    int to = limit == 0 ? all.size() : Math.min(all.size(), offset + limit);
    out.name(member).beginArray();
    all.subList(Math.min(offset, all.size()), to).forEach(out::value);
    out.endArray();
    if (to < all.size()) {
      out.member("nextCursor", cursor(to, digest));
    }
  }

  private static String cursor(int offset, String digest) {
    byte[] text = (offset + "." + digest).getBytes(StandardCharsets.UTF_8);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(text);
  }

  private static int offset(String cursor, String digest) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      int dot = text.indexOf('.');
      int offset = Integer.parseInt(text.substring(0, dot));
      if (offset >= 0 && text.substring(dot + 1).equals(digest)) {
        return offset;
      }
    } catch (RuntimeException e) {
      // a malformed cursor is rejected below like an expired one
    }
    throw new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "The 'cursor' is invalid or expired; start without a cursor");
  }

  private static int number(String limit) {
    try {
      int number = Integer.parseInt(limit);
      if (number >= 1 && number <= MAX_LIMIT) {
        return number;
      }
    } catch (NumberFormatException e) {
      // rejected below, like a number out of range
    }
    throw new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "'limit' must be an integer from 1 to " + MAX_LIMIT);
  }
}
