package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a result says about the cache that its call has passed: the last member of its {@code
 * _meta}, which is its own last member. Only the end of a result is read for it, since every result
 * is. A server cannot write one: {@link #removedFrom} is applied to what comes from servers.
 *
 * @param ageSeconds time since it came from the server
 * @param ttlSeconds time for which it may be returned again
 * @param sharedCall the id of the call that has reached the server; null if it is the call itself
 */
public record CacheNote(Status status, long ageSeconds, long ttlSeconds, String sharedCall) {
  private static final byte[] META = "\"_meta\"".getBytes(StandardCharsets.US_ASCII);

  /** Of a name that is written otherwise. */
  private static final byte[] ESCAPE = "\\u".getBytes(StandardCharsets.US_ASCII);

  private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");
  private static final byte[] KEY = MetaKeys.CACHE.getBytes(StandardCharsets.US_ASCII);

  /** Longer than a note is. */
  private static final int END = 400;

  /** Where a result is from. */
  public enum Status {
    /** From the cache. */
    HIT("hit"),
    /** From the server, and kept. */
    MISS("miss"),
    /** From the server, which several callers asked for the same. */
    COLLAPSED("collapsed");

    private final String word;

    Status(String word) {
      this.word = word;
    }

    public String word() {
      return word;
    }
  }

  /** A copy of a result with the note. */
  public JsonSlice addTo(JsonSlice result) {
    JsonWriter note =
        new JsonWriter()
            .beginObject()
            .member("status", status.word)
            .member("age", ageSeconds)
            .member("ttl", ttlSeconds);
    if (sharedCall != null) {
      note.member("call", sharedCall);
    }
    note.endObject();
    if (!result.mentions(META) && !result.mentions(ESCAPE)) {
      return new JsonWriter(result.length() + END)
          .beginObject()
          .membersOf(result)
          .name("_meta")
          .beginObject()
          .member(MetaKeys.CACHE, note.toSlice())
          .endObject()
          .endObject()
          .toSlice();
    }
    Map<String, JsonSlice> members = JsonObjects.members(result);
    Map<String, JsonSlice> meta = meta(members);
    meta.put(MetaKeys.CACHE, note.toSlice());
    members.remove("_meta");
    members.put("_meta", JsonObjects.object(meta));
    return JsonObjects.object(members);
  }

  /** A result of a server without what it says about the cache of this bridge. */
  public static JsonSlice removedFrom(JsonSlice result) {
    if (!mayHaveNote(result)) {
      return result;
    }
    Map<String, JsonSlice> members = JsonObjects.members(result);
    Map<String, JsonSlice> meta = meta(members);
    if (meta.remove(MetaKeys.CACHE) == null) {
      return result;
    }
    members.put("_meta", JsonObjects.object(meta));
    return JsonObjects.object(members);
  }

  private static boolean mayHaveNote(JsonSlice result) {
    int from = Math.max(result.from(), result.to() - END);
    return new JsonSlice(result.bytes(), from, result.to()).mentions(KEY);
  }

  private static Map<String, JsonSlice> meta(Map<String, JsonSlice> members) {
    JsonSlice meta = members.get("_meta");
    return meta == null || !meta.isObject() ? new LinkedHashMap<>() : JsonObjects.members(meta);
  }

  /** The note in a result; null without one. */
  public static CacheNote of(JsonSlice result) {
    JsonSlice note =
        mayHaveNote(result) ? meta(JsonObjects.members(result)).get(MetaKeys.CACHE) : null;
    if (note == null || !note.isObject()) {
      return null;
    }
    Map<String, JsonSlice> members = JsonObjects.members(note);
    String word = JsonObjects.string(members.get("status"));
    for (Status status : Status.values()) {
      if (status.word.equals(word)) {
        return new CacheNote(
            status,
            number(members.get("age")),
            number(members.get("ttl")),
            JsonObjects.string(members.get("call")));
      }
    }
    return null;
  }

  private static long number(JsonSlice value) {
    String text = value == null ? "" : value.text();
    return SECONDS.matcher(text).matches() ? Long.parseLong(text) : 0;
  }
}
