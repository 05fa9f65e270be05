package dev.mcpbridge.protocol;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The headers of a stateless request that mirror its body (2026-07-28
 * basic/transports/streamable-http): version, method, name, and the arguments that a tool's schema
 * marks with {@code x-mcp-header}. Schemas are collected from the tool lists that are received. Not
 * thread-safe.
 */
public final class MirroredHeaders {
  private static final Logger LOG = System.getLogger(MirroredHeaders.class.getName());

  private final Map<String, JsonSlice> schemas = new HashMap<>();
  private final Set<String> listed = new HashSet<>();

  /**
   * Records the tools of a page of {@code tools/list}.
   *
   * @return the page without the tools whose annotations are invalid
   */
  public JsonSlice recordTools(JsonSlice result) {
    JsonSlice tools = JsonObjects.members(result).get("tools");
    if (tools == null) {
      return result;
    }
    List<JsonSlice> entries = JsonObjects.elements(tools);
    List<JsonSlice> valid = entries.stream().filter(this::record).toList();
    if (valid.size() == entries.size()) {
      return result;
    }
    JsonWriter out = new JsonWriter(tools.length()).beginArray();
    valid.forEach(out::value);
    return JsonObjects.with(result, "tools", out.endArray().toSlice());
  }

  private boolean record(JsonSlice tool) {
    Map<String, JsonSlice> members = JsonObjects.members(tool);
    JsonSlice schema = members.get("inputSchema");
    String name = JsonObjects.string(members.get("name"));
    listed.add(name);
    if (!HeaderAnnotations.areValid(schema)) {
      LOG.log(Level.WARNING, "tool={0} omitted: its x-mcp-header annotations are invalid", name);
      return false;
    }
    if (schema != null && schema.text().contains("x-mcp-header")) {
      schemas.put(name, schema.detached());
    }
    return true;
  }

  /** Whether a tool was in a recorded list. */
  public boolean isListed(String tool) {
    return listed.contains(tool);
  }

  /** Whether a request with these params belongs to the stateless era. */
  public static boolean isStateless(Map<String, JsonSlice> params) {
    JsonSlice meta = params.get("_meta");
    return meta != null && JsonObjects.members(meta).containsKey(MetaKeys.VERSION);
  }

  /** The headers of a stateless request. */
  public Map<String, String> of(String method, Map<String, JsonSlice> params) {
    Map<String, String> headers = new LinkedHashMap<>();
    Map<String, JsonSlice> meta = JsonObjects.members(params.get("_meta"));
    headers.put("mcp-protocol-version", JsonObjects.string(meta.get(MetaKeys.VERSION)));
    headers.put("mcp-method", method);
    String name = JsonObjects.string(params.get("name"));
    String uri = JsonObjects.string(params.get("uri"));
    if (name != null || uri != null) {
      headers.put("mcp-name", encoded(name != null ? name : uri));
    }
    JsonSlice schema = method.equals(McpMethod.TOOLS_CALL) ? schemas.get(name) : null;
    if (schema != null) {
      HeaderAnnotations.visit(
          schema,
          params.get("arguments"),
          (header, argument) -> {
            if (argument != null) {
              String text = JsonObjects.string(argument);
              headers.put(header, encoded(text == null ? argument.text() : text));
            }
          });
    }
    return headers;
  }

  /** The text as a header value: unchanged if it is valid as one, else Base64 of its UTF-8. */
  private static String encoded(String text) {
    boolean plain =
        text.chars().allMatch(c -> c >= 0x20 && c < 0x7F)
            && text.equals(text.strip())
            && !text.startsWith("=?base64?");
    return plain
        ? text
        : "=?base64?"
            + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8))
            + "?=";
  }
}
