package dev.mcpbridge.http.mcp.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import java.util.List;
import java.util.Map;

/**
 * One JSON-RPC 2.0 message of a client, split into members but not decoded.
 *
 * @param id as it was written, a string or an integer; null for a notification
 * @param method null for a response
 * @param params members of {@code params}; empty if absent
 * @param meta members of {@code params._meta}
 * @param raw the whole message
 * @param hasWhitespace whether there is whitespace between its tokens
 */
public record ClientMessage(
    JsonSlice id,
    String method,
    Map<String, JsonSlice> params,
    Map<String, JsonSlice> meta,
    JsonSlice raw,
    boolean hasWhitespace) {
  private static final int MAX_BATCH = 100;

  /**
   * @throws BridgeException PARSE_ERROR or MALFORMED_REQUEST
   */
  public static ClientMessage read(byte[] body, int maxDepth) {
    JsonScanner scanner = JsonScanner.strict(maxDepth);
    JsonSlice message = scan(scanner, body);
    if (!message.isObject()) {
      throw malformed("The body must be a JSON-RPC message");
    }
    Map<String, JsonSlice> members = JsonObjects.distinctMembers(message);
    if (members == null) {
      throw malformed("The message has a duplicate member");
    }
    if (!"2.0".equals(JsonObjects.string(members.get("jsonrpc")))) {
      throw malformed("jsonrpc must be \"2.0\"");
    }
    JsonSlice id = members.get("id");
    if (id != null && !isId(id)) {
      throw malformed("The id must be a string or an integer");
    }
    if (members.containsKey("result") || members.containsKey("error")) {
      checkAnswer(members);
      return new ClientMessage(id, null, Map.of(), Map.of(), message, true);
    }
    String method = JsonObjects.string(members.get("method"));
    if (method == null) {
      throw malformed("The message has no method");
    }
    Map<String, JsonSlice> params = params(members.get("params"));
    return new ClientMessage(id, method, params, meta(params), message, scanner.sawWhitespace());
  }

  /** Whether the body starts like a batch. */
  public static boolean isBatch(byte[] body) {
    int at = 0;
    while (at < body.length && body[at] <= ' ' && body[at] >= 0) {
      at++;
    }
    return at < body.length && body[at] == '[';
  }

  /**
   * Reads the messages of a batch.
   *
   * @throws BridgeException PARSE_ERROR or MALFORMED_REQUEST for the whole batch if one is invalid
   */
  public static List<ClientMessage> readBatch(byte[] body, int maxDepth) {
    List<JsonSlice> messages = JsonObjects.elements(scan(JsonScanner.strict(maxDepth + 1), body));
    if (messages.isEmpty() || messages.size() > MAX_BATCH) {
      throw malformed("A batch must have 1 to " + MAX_BATCH + " messages");
    }
    return messages.stream().map(message -> read(message.toBytes(), maxDepth)).toList();
  }

  /** The id of an otherwise invalid message; null if it cannot be read. */
  public static JsonSlice readId(byte[] body) {
    JsonSlice id = JsonObjects.members(JsonSlice.of(body)).get("id");
    return id != null && isId(id) ? id : null;
  }

  /** JSON-RPC 2.0 section 5. */
  private static void checkAnswer(Map<String, JsonSlice> members) {
    JsonSlice error = members.get("error");
    boolean hasBoth = error != null && members.containsKey("result");
    if (hasBoth || members.containsKey("method") || !members.containsKey("id")) {
      throw malformed("A response must have an id and either a result or an error");
    }
    if (error != null && !error.isObject()) {
      throw malformed("The error must be an object");
    }
  }

  public boolean isResponse() {
    return method == null;
  }

  public boolean isRequest() {
    return method != null && id != null;
  }

  /** A required string of the params. */
  public String required(String name) {
    String text = stringParam(name);
    if (text == null) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params." + name + " must be a string");
    }
    return text;
  }

  /** A string among the params; null if absent or not a string. */
  public String stringParam(String name) {
    return JsonObjects.string(params.get(name));
  }

  private static Map<String, JsonSlice> meta(Map<String, JsonSlice> params) {
    JsonSlice meta = params.get("_meta");
    return meta == null ? Map.of() : JsonObjects.members(meta);
  }

  private static JsonSlice scan(JsonScanner scanner, byte[] body) {
    try {
      return scanner.document(body, 0, body.length);
    } catch (JsonSyntaxException e) {
      throw new BridgeException(
          ErrorCode.PARSE_ERROR, "The body is not valid JSON: " + e.getMessage());
    }
  }

  private static Map<String, JsonSlice> params(JsonSlice params) {
    if (params == null) {
      return Map.of();
    }
    Map<String, JsonSlice> members = params.isObject() ? JsonObjects.distinctMembers(params) : null;
    if (members == null) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS, "params must be an object without duplicate members");
    }
    return members;
  }

  /** Whether a value is a string or an integer. */
  public static boolean isId(JsonSlice id) {
    byte first = id.bytes()[id.from()];
    if (first == '"') {
      return true;
    }
    for (int i = id.from() + (first == '-' ? 1 : 0); i < id.to(); i++) {
      if (id.bytes()[i] < '0' || id.bytes()[i] > '9') {
        return false;
      }
    }
    return true;
  }

  private static BridgeException malformed(String detail) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, detail);
  }
}
