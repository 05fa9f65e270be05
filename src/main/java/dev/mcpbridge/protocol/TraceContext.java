package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The trace context of a request in {@code _meta} (SEP-414), for its HTTP headers. Stateless. */
public final class TraceContext {
  private static final byte[] NAME = MetaKeys.TRACEPARENT.getBytes(StandardCharsets.US_ASCII);

  /** W3C Trace Context section 3.2.2; a later version may have more fields. */
  private static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-[ -~]{0,100})?");

  /** Section 3.3.1.5 asks for 512 characters. */
  private static final Pattern TRACESTATE = Pattern.compile("[ -~]{1,512}");

  private TraceContext() {}

  /** The headers {@code traceparent} and {@code tracestate}; invalid ones are left out. */
  public static Map<String, String> headers(JsonSlice meta) {
    if (!meta.mentions(NAME)) {
      return Map.of();
    }
    Map<String, JsonSlice> members = JsonObjects.members(meta);
    String parent = JsonObjects.string(members.get(MetaKeys.TRACEPARENT));
    String state = JsonObjects.string(members.get(MetaKeys.TRACESTATE));
    Map<String, String> headers = new TreeMap<>();
    if (traceId(parent) != null) {
      headers.put(MetaKeys.TRACEPARENT, parent);
      if (state != null && TRACESTATE.matcher(state).matches()) {
        headers.put(MetaKeys.TRACESTATE, state);
      }
    }
    return headers;
  }

  /** The id of the trace; null without a valid context. */
  public static String traceId(String traceparent) {
    var matcher = TRACEPARENT.matcher(traceparent == null ? "" : traceparent);
    return matcher.matches() ? matcher.group(1) : null;
  }
}
