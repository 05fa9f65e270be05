package dev.mcpbridge.protocol;

/** Writes the result of a call of a tool (MCP server/tools, "Tool Result"), block by block. */
public final class ToolResult {
  private final JsonWriter out;
  private boolean inContent = true;

  private ToolResult(int capacity) {
    out = new JsonWriter(capacity).beginObject().name("content").beginArray();
  }

  /** One that begins with a text. */
  public static ToolResult text(String words) {
    return new ToolResult(words.length() + 128).andText(words);
  }

  /** One more text. */
  public ToolResult andText(String words) {
    out.beginObject().member("type", "text").member("text", words).endObject();
    return this;
  }

  /** One that begins with any block. */
  public static ToolResult of(JsonSlice block) {
    return new ToolResult(block.length() + 64).and(block);
  }

  /** One more block; before anything that is no block. */
  public ToolResult and(JsonSlice block) {
    out.value(block);
    return this;
  }

  /**
   * @param json an object, as it is
   */
  public ToolResult structured(JsonSlice json) {
    content().member("structuredContent", json);
    return this;
  }

  /** {@code _meta}, behind everything that is shown. */
  public ToolResult meta(JsonSlice meta) {
    content().member("_meta", meta);
    return this;
  }

  public JsonSlice error() {
    return content().member("isError", true).endObject().toSlice();
  }

  public JsonSlice done() {
    return content().endObject().toSlice();
  }

  private JsonWriter content() {
    if (inContent) {
      inContent = false;
      out.endArray();
    }
    return out;
  }
}
