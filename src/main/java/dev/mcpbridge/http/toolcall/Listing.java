package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import java.util.List;

/**
 * A list of functions as it is answered.
 *
 * @param tag another for another text (RFC 9110 section 8.8.3)
 */
record Listing(JsonSlice body, String tag) {
  private static final int TAG_DIGITS = 24;

  static Listing of(Format format, List<FunctionLists.Entry> entries) {
    List<JsonSlice> definitions = entries.stream().map(FunctionLists.Entry::definition).toList();
    JsonWriter out =
        new JsonWriter(1 << 16)
            .beginObject()
            .member("format", format.word())
            .member("tools", format.tools(definitions))
            .name("reductions")
            .beginArray();
    entries.stream()
        .filter(entry -> !entry.reduction().lost().isEmpty())
        .forEach(entry -> reduction(out, entry));
    JsonSlice body = out.endArray().endObject().toSlice();
    return new Listing(body, new Sha256().add(body).hex(TAG_DIGITS));
  }

  private static void reduction(JsonWriter out, FunctionLists.Entry entry) {
    out.beginObject().member("name", entry.name()).name("lost").beginArray();
    entry.reduction().lost().forEach(out::value);
    out.endArray().endObject();
  }
}
