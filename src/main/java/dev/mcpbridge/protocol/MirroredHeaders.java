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
 * The headers of a stateless request, which say again what its body says (2026-07-28
 * basic/transports/streamable-http): version, method, name, and the arguments for which a tool's
 * schema asks it ({@code x-mcp-header}). Learns the schemas from the lists that pass. Not
 * thread-safe.
 */
public final class MirroredHeaders {
  private static final Logger LOG = System.getLogger(MirroredHeaders.class.getName());

  private final Map<String, JsonSlice> schemas = new HashMap<>();
  private final Set<String> listed = new HashSet<>();

  /**
   * Takes note of the tools of a list's page.
   *
   * @return the page without those whose annotations break the rules; itself where none does
   */
  public JsonSlice learn(JsonSlice result) {
    JsonSlice tools = JsonObjects.members(result).get("tools");
    if (tools == null) {
      return result;
    }
    List<JsonSlice> entries = JsonObjects.elements(tools);
    List<JsonSlice> kept = entries.stream().filter(this::keep).toList();
    if (kept.size() == entries.size()) {
      return result;
    }
    JsonWriter out = new JsonWriter(tools.length()).beginArray();
    kept.forEach(out::value);
    return JsonObjects.with(result, "tools", out.endArray().toSlice());
  }

  private boolean keep(JsonSlice tool) {
    Map<String, JsonSlice> members = JsonObjects.members(tool);
    JsonSlice schema = members.get("inputSchema");
    String name = JsonObjects.string(members.get("name"));
    listed.add(name);
    if (!HeaderAnnotations.areValid(schema)) {
      LOG.log(Level.WARNING, "tool {0} is left out: its x-mcp-header breaks the rules", name);
      return false;
    }
    if (schema != null && schema.text().contains("x-mcp-header")) {
      schemas.put(name, schema.detached());
    }
    return true;
  }

  /** Whether a tool was in a list that passed. */
  public boolean knows(String tool) {
    return listed.contains(tool);
  }

  /** Whether a request with these params is one of the stateless era. */
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

  /** A header's value: as it is where it can be one, else Base64 of its UTF-8. */
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
