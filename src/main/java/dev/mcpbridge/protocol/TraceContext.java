package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The trace context of a request, as it stands in {@code _meta} (SEP-414) and in HTTP headers.
 *
 * @param traceId 32 hexadecimal digits
 * @param spanId 16 hexadecimal digits: the span that is the parent of what follows
 * @param isSampled whether the trace is recorded
 */
public record TraceContext(String traceId, String spanId, boolean isSampled) {
  private static final byte[] NAME = MetaKeys.TRACEPARENT.getBytes(StandardCharsets.US_ASCII);

  /** W3C Trace Context section 3.2.2; a later version than 00 may have more fields. */
  private static final Pattern TRACEPARENT =
      Pattern.compile(
          "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})"
              + "-[0-9a-f]([0-9a-f])(-[ -~]{0,100})?");

  /** Section 3.3.1.5 asks for 512 characters. */
  private static final Pattern TRACESTATE = Pattern.compile("[ -~]{1,512}");

  /** The headers {@code traceparent} and {@code tracestate}; invalid ones are left out. */
  public static Map<String, String> headers(JsonSlice meta) {
    if (!meta.mentions(NAME)) {
      return Map.of();
    }
    Map<String, JsonSlice> members = JsonObjects.members(meta);
    String parent = JsonObjects.string(members.get(MetaKeys.TRACEPARENT));
    String state = JsonObjects.string(members.get(MetaKeys.TRACESTATE));
    Map<String, String> headers = new TreeMap<>();
    if (of(parent) != null) {
      headers.put(MetaKeys.TRACEPARENT, parent);
      if (isState(state)) {
        headers.put(MetaKeys.TRACESTATE, state);
      }
    }
    return headers;
  }

  private static boolean isState(String state) {
    return state != null && TRACESTATE.matcher(state).matches();
  }

  /**
   * An envelope with a context that came in HTTP headers; unchanged if that is not valid.
   *
   * @param state null for none
   */
  public static Envelope add(Envelope envelope, String parent, String state) {
    if (of(parent) == null) {
      return envelope;
    }
    Envelope added = envelope.withMeta(MetaKeys.TRACEPARENT, JsonObjects.quoted(parent));
    return isState(state) ? added.withMeta(MetaKeys.TRACESTATE, JsonObjects.quoted(state)) : added;
  }

  /** The context of a call; null for one without a valid context. */
  public static TraceContext of(Envelope envelope) {
    return of(headers(envelope.meta()).get(MetaKeys.TRACEPARENT));
  }

  /**
   * @param traceparent value of the field; may be null
   * @return null if it is not valid
   */
  public static TraceContext of(String traceparent) {
    if (traceparent == null) {
      return null;
    }
    Matcher matcher = TRACEPARENT.matcher(traceparent);
    return matcher.matches()
        ? new TraceContext(
            matcher.group(1), matcher.group(2), Integer.parseInt(matcher.group(3), 16) % 2 == 1)
        : null;
  }
}
