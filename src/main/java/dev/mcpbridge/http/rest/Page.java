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
 * A part of a list: everything unless {@code ?limit=} or {@code ?cursor=} say otherwise. A cursor
 * is opaque, and good for the list it came from as long as that does not change.
 *
 * @param limit 0 for no limit
 */
record Page(int offset, int limit) {
  private static final int MAX_LIMIT = 1000;
  private static final int DEFAULT_LIMIT = 100;

  static Page of(RoutingContext ctx, String digest) {
    String cursor = Queries.one(ctx, "cursor");
    String limit = Queries.one(ctx, "limit");
    if (cursor == null) {
      return new Page(0, limit == null ? 0 : number(limit));
    }
    return new Page(offset(cursor, digest), limit == null ? DEFAULT_LIMIT : number(limit));
  }

  /** Answers with the page that was asked for; a cursor that is not good fails the request. */
  static void answer(RoutingContext ctx, String member, List<JsonSlice> all, String digest) {
    try {
      JsonWriter out = new JsonWriter(2048).beginObject();
      of(ctx, digest).write(out, member, all, digest);
      Replies.json(ctx, 200, out.endObject());
    } catch (BridgeException e) {
      ctx.fail(e);
    }
  }

  /** Writes the members of the list that are on this page, and the cursor of the next. */
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
      // not one of ours: the same answer as for one that is out of date
    }
    throw new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "The cursor is not valid, or not any more");
  }

  private static int number(String limit) {
    try {
      int number = Integer.parseInt(limit);
      if (number >= 1 && number <= MAX_LIMIT) {
        return number;
      }
    } catch (NumberFormatException e) {
      // refused below, like a number out of range
    }
    throw new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "limit must be a whole number from 1 to " + MAX_LIMIT);
  }
}
