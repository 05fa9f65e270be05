package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;

/** Compares a text block with a JSON value. Stateless. */
final class JsonEquality {
  private JsonEquality() {}

  static boolean isEqual(ContentBlock contentBlock, JsonSlice value) {
    if (!(contentBlock instanceof ContentBlock.Text text)
        || !text.words().stripLeading().startsWith("{")) {
      return false;
    }
    try {
      return Json.tree(text.words()).equals(Json.tree(value.text()));
    } catch (IOException e) {
      return false;
    }
  }
}
