package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.request.LogLevels;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.MultiMap;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The metadata of a request of 2026-07-28, in {@code _meta} and mirrored in headers for
 * intermediaries; both must match (basic/transports/streamable-http).
 */
public final class StatelessMeta {
  private static final String VERSION_HEADER = "mcp-protocol-version";
  private static final String ENCODED_START = "=?base64?";
  private static final String ENCODED_END = "?=";
  private static final Map<String, String> NAME_MEMBERS =
      Map.of("tools/call", "name", "prompts/get", "name", "resources/read", "uri");

  private StatelessMeta() {}

  /** Whether a request belongs to the stateless era. */
  public static boolean isIn(ClientMessage message, MultiMap headers) {
    String version = headers.get(VERSION_HEADER);
    return message.meta().containsKey(MetaKeys.VERSION)
        || version != null && version.compareTo(ProtocolVersion.STATELESS) >= 0;
  }

  /**
   * @throws BridgeException INVALID_PARAMS, UNSUPPORTED_VERSION or HEADER_MISMATCH
   */
  static void check(ClientMessage message, MultiMap headers) {
    String version = JsonObjects.string(message.meta().get(MetaKeys.VERSION));
    JsonSlice capabilities = message.meta().get(MetaKeys.CAPABILITIES);
    if (version == null || capabilities == null || !capabilities.isObject()) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS,
          "params._meta must have " + MetaKeys.VERSION + " and " + MetaKeys.CAPABILITIES);
    }
    JsonSlice level = message.meta().get(MetaKeys.LOG_LEVEL);
    if (level != null && !LogLevels.isLevel(JsonObjects.string(level))) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown log level: " + level.text());
    }
    checkHeader(VERSION_HEADER, headers, version);
    if (!version.equals(ProtocolVersion.STATELESS)) {
      throw unsupported(version);
    }
    checkHeader("mcp-method", headers, message.method());
    String member = NAME_MEMBERS.get(message.method());
    if (member != null && message.stringParam(member) != null) {
      checkHeader("mcp-name", headers, message.stringParam(member));
    }
  }

  /** The text of a header value, which may be Base64 of UTF-8. */
  static String decoded(String value) {
    if (!value.startsWith(ENCODED_START) || !value.endsWith(ENCODED_END)) {
      return value;
    }
    String encoded =
        value.substring(
            ENCODED_START.length(),
            Math.max(ENCODED_START.length(), value.length() - ENCODED_END.length()));
    if (encoded.length() % 4 != 0) {
      throw mismatch("A header is not valid Base64");
    }
    try {
      return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw mismatch("A header is not valid Base64");
    }
  }

  static BridgeException mismatch(String detail) {
    return new BridgeException(ErrorCode.HEADER_MISMATCH, detail);
  }

  private static void checkHeader(String header, MultiMap headers, String inBody) {
    List<String> values = headers.getAll(header);
    if (values.size() != 1) {
      throw mismatch("The header " + header + " must be present exactly once");
    }
    if (!decoded(values.get(0)).equals(inBody)) {
      throw mismatch("The header " + header + " does not match the body");
    }
  }

  private static BridgeException unsupported(String version) {
    JsonSlice supported =
        new JsonWriter().beginArray().value(ProtocolVersion.STATELESS).endArray().toSlice();
    return new BridgeException(
            ErrorCode.UNSUPPORTED_VERSION, "MCP version " + version + " is not supported")
        .with("supported", supported)
        .with("requested", version);
  }
}
