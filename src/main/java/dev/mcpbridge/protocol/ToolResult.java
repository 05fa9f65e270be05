package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;

/** Builds the result of a tool call block by block (MCP server/tools, "Tool Result"). */
public final class ToolResult {
  private static final byte[] IS_ERROR = "\"isError\"".getBytes(StandardCharsets.US_ASCII);

  private final JsonWriter out;
  private boolean inContent = true;

  private ToolResult(int capacity) {
    out = new JsonWriter(capacity).beginObject().name("content").beginArray();
  }

  /** A result that begins with a text block. */
  public static ToolResult text(String text) {
    return new ToolResult(text.length() + 128).addText(text);
  }

  /** Appends a text block. */
  public ToolResult addText(String text) {
    out.beginObject().member("type", "text").member("text", text).endObject();
    return this;
  }

  /** A result that begins with the given block. */
  public static ToolResult of(JsonSlice block) {
    return new ToolResult(block.length() + 64).addBlock(block);
  }

  /** Appends a block; must be called before any other member is added. */
  public ToolResult addBlock(JsonSlice block) {
    out.value(block);
    return this;
  }

  /**
   * Adds the structured content.
   *
   * @param json an object, written unchanged
   */
  public ToolResult structured(JsonSlice json) {
    content().member("structuredContent", json);
    return this;
  }

  /** Adds {@code _meta}, after all content. */
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

  /** Whether a result is an error of its tool. */
  public static boolean isError(JsonSlice result) {
    return result.mentions(IS_ERROR)
        && JsonSlice.of("true").equals(JsonObjects.members(result).get("isError"));
  }

  private JsonWriter content() {
    if (inContent) {
      inContent = false;
      out.endArray();
    }
    return out;
  }
}
