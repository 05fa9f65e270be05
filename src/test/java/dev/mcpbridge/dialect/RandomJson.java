package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.Random;

/** JSON texts as models write them, with numbers and escapes that a tree would not preserve. */
final class RandomJson {
  private static final List<String> SCALARS =
      List.of(
          "9007199254740993",
          "123456789012345678901234567890",
          "1.10",
          "1e400",
          "-0",
          "1E-7",
          "-1.0e+2",
          "0.1000000000000000055511151231257827",
          "true",
          "false",
          "null",
          "\"\"",
          "\"ü🎉\"",
          "\"\\u00fc\\ud83c\\udf89\"",
          "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
          "\"\\ud800\"",
          "\"{\\\"a\\\": 1}\"",
          "\" \"",
          "\"\u2028\u007f\"",
          "{}",
          "[]");
  private static final List<String> NAMES =
      List.of(
          "a",
          "b",
          "ü",
          "type",
          "id",
          "functionCall",
          "function",
          "tool_calls",
          "content",
          "output",
          "candidates",
          "parts",
          "a \\\"b",
          "\\u0061x",
          "🎉");

  private RandomJson() {}

  static String object(Random random, int depth) {
    StringBuilder text = new StringBuilder("{");
    int from = random.nextInt(NAMES.size());
    for (int i = random.nextInt(4); i > 0; i--) {
      String name = NAMES.get((from + i) % NAMES.size());
      text.append(text.length() > 1 ? "," : "").append(blank(random));
      text.append('"').append(name).append("\":").append(blank(random));
      text.append(value(random, depth - 1));
    }
    return text.append(blank(random)).append('}').toString();
  }

  private static String value(Random random, int depth) {
    if (depth < 1 || random.nextInt(3) > 0) {
      return SCALARS.get(random.nextInt(SCALARS.size()));
    }
    return random.nextBoolean()
        ? object(random, depth)
        : "[" + value(random, depth - 1) + "," + value(random, depth - 1) + "]";
  }

  private static String blank(Random random) {
    return random.nextInt(4) == 0 ? " " : "";
  }

  static String quoted(String text) {
    try {
      return Json.mapper().writeValueAsString(text);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(text, e);
    }
  }
}
