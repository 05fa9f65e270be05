package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;

/** Whether a text says the same as a JSON value. Stateless. */
final class Same {
  private Same() {}

  static boolean json(Part part, JsonSlice value) {
    if (!(part instanceof Part.Text text) || !text.words().stripLeading().startsWith("{")) {
      return false;
    }
    try {
      return Json.mapper().readTree(text.words()).equals(Json.mapper().readTree(value.text()));
    } catch (IOException e) {
      return false;
    }
  }
}
