package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One block of a tool's result (MCP server/tools, "Tool Result"). */
public sealed interface ContentBlock {

  /** The text that represents the block where only text is possible. */
  String words();

  /** Whether the block is a text that represents the same object. */
  private boolean repeats(JsonSlice object) {
    try {
      return this instanceof Text
          && words().stripLeading().startsWith("{")
          && Json.tree(words()).equals(Json.tree(object.text()));
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  /** Text. */
  record Text(String words) implements ContentBlock {}

  /**
   * Binary content of an image, a sound or a file.
   *
   * @param data Base64
   */
  record Media(String type, String data) implements ContentBlock {
    private static final Set<String> IMAGES =
        Set.of("image/jpeg", "image/png", "image/gif", "image/webp");

    /** Whether models accept the image format; requests with other formats are rejected. */
    boolean isImage() {
      return IMAGES.contains(type);
    }

    String dataUrl() {
      return "data:" + type + ";base64," + data;
    }

    @Override
    public String words() {
      return "[" + type + ", " + data.length() * 3L / 4 + " bytes]";
    }
  }

  /**
   * The blocks of an MCP result. Structured content is appended as text unless a text block repeats
   * it.
   *
   * @param result members of the result
   */
  static List<ContentBlock> of(Map<String, JsonSlice> result) {
    List<ContentBlock> parts = new ArrayList<>();
    JsonSlice content = result.get("content");
    if (content != null) {
      JsonObjects.elements(content).forEach(block -> parts.add(ofBlock(block)));
    }
    JsonSlice structured = result.get("structuredContent");
    if (structured != null && parts.stream().noneMatch(part -> part.repeats(structured))) {
      parts.add(new Text(structured.text()));
    }
    return parts.isEmpty() ? List.of(new Text("")) : parts;
  }

  private static ContentBlock ofBlock(JsonSlice block) {
    Map<String, JsonSlice> members = JsonObjects.members(block);
    String type = JsonObjects.string(members.get("type"));
    String text = JsonObjects.string(members.get("text"));
    String data = JsonObjects.string(members.get("data"));
    String mimeType = JsonObjects.string(members.get("mimeType"));
    if ("text".equals(type) && text != null) {
      return new Text(text);
    }
    if (("image".equals(type) || "audio".equals(type)) && data != null && mimeType != null) {
      return new Media(mimeType, data);
    }
    JsonSlice resource = members.get("resource");
    return "resource".equals(type) && resource != null
        ? ofResource(block, JsonObjects.members(resource))
        : new Text(block.text());
  }

  private static ContentBlock ofResource(JsonSlice block, Map<String, JsonSlice> resource) {
    String text = JsonObjects.string(resource.get("text"));
    String blob = JsonObjects.string(resource.get("blob"));
    String mimeType = JsonObjects.string(resource.get("mimeType"));
    if (text != null) {
      return new Text(JsonObjects.string(resource.get("uri")) + ":\n" + text);
    }
    return blob != null && mimeType != null ? new Media(mimeType, blob) : new Text(block.text());
  }
}
