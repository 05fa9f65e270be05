package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class JsonWriterTest {

  @Test
  void insertsCommas() {
    String json =
        new JsonWriter()
            .beginObject()
            .member("a", 1)
            .name("b")
            .beginArray()
            .value("x")
            .value(true)
            .beginObject()
            .endObject()
            .endArray()
            .membersOf(JsonSlice.of("{\"c\":1.10}"))
            .membersOf(JsonSlice.EMPTY_OBJECT)
            .membersOf(JsonSlice.of("{ \n }"))
            .member("d", JsonSlice.NULL)
            .endObject()
            .toSlice()
            .text();

    assertEquals("{\"a\":1,\"b\":[\"x\",true,{}],\"c\":1.10,\"d\":null}", json);
  }

  @Test
  void beginsAnewWithoutACommaAndWithoutALargeArray() {
    // Given
    JsonWriter out = new JsonWriter().member("a", 1).endLine().value("x".repeat(1_000));

    // When
    out.clear(100);

    // Then
    assertEquals("[1]", out.beginArray().value(1).endArray().toSlice().text());
    assertEquals(100, out.toSlice().bytes().length);
  }

  @Test
  void escapesAndEncodesStrings() throws Exception {
    String text = "quote \" slash \\ line \n bell \u0007 ü 🎉 {,:[";

    JsonSlice written = new JsonWriter().value(text).toSlice();

    assertEquals(text, Json.tree(written).textValue());
  }

  @Test
  void writesBytesAsHexadecimalDigitsBeyondItsCapacity() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }

    String written =
        new JsonWriter(1)
            .beginObject()
            .hex("a", "x:", all)
            .hex("b", "", new byte[0])
            .endObject()
            .toSlice()
            .text();

    assertEquals("{\"a\":\"x:" + HexFormat.of().formatHex(all) + "\",\"b\":\"\"}", written);
  }

  @Test
  void loneSurrogateIsEscaped() throws Exception {
    JsonSlice written = new JsonWriter().value("a\ud800b").toSlice();

    JsonScanner.transit(2).document(written.bytes(), written.from(), written.to());
    assertEquals("\"a\\ud800b\"", written.text());
  }
}
