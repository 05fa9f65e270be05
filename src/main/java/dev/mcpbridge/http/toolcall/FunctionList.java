package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import java.util.List;

/**
 * A list of functions as a response body.
 *
 * @param tag entity tag of the body (RFC 9110 section 8.8.3)
 */
record FunctionList(JsonSlice body, String tag) {
  private static final int TAG_DIGITS = 24;

  static FunctionList of(Format format, List<FunctionLists.ListedFunction> entries) {
    List<JsonSlice> definitions =
        entries.stream().map(FunctionLists.ListedFunction::definition).toList();
    JsonWriter out =
        new JsonWriter(1 << 16)
            .beginObject()
            .member("format", format.id())
            .member("tools", format.tools(definitions))
            .name("reductions")
            .beginArray();
    entries.stream()
        .filter(listedFunction -> !listedFunction.reduction().reductions().isEmpty())
        .forEach(listedFunction -> reduction(out, listedFunction));
    JsonSlice body = out.endArray().endObject().toSlice();
    return new FunctionList(body, new Sha256().add(body).hex(TAG_DIGITS));
  }

  private static void reduction(JsonWriter out, FunctionLists.ListedFunction listedFunction) {
    out.beginObject().member("name", listedFunction.name()).name("lost").beginArray();
    listedFunction.reduction().reductions().forEach(out::value);
    out.endArray().endObject();
  }
}
