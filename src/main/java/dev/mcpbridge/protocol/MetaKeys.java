package dev.mcpbridge.protocol;

import java.util.Set;

/** The keys of {@code _meta} reserved by 2026-07-28 (basic/index), and the bridge's own. */
public final class MetaKeys {
  public static final String PREFIX = "io.modelcontextprotocol/";
  public static final String VERSION = PREFIX + "protocolVersion";
  public static final String CAPABILITIES = PREFIX + "clientCapabilities";
  public static final String CLIENT_INFO = PREFIX + "clientInfo";
  public static final String LOG_LEVEL = PREFIX + "logLevel";
  public static final String SUBSCRIPTION = PREFIX + "subscriptionId";
  public static final String SERVER_INFO = PREFIX + "serverInfo";
  public static final String PROGRESS_TOKEN = "progressToken";

  /** Trace context (W3C Trace Context section 3; SEP-414). */
  public static final String TRACEPARENT = "traceparent";

  public static final String TRACESTATE = "tracestate";
  public static final String BAGGAGE = "baggage";

  /** The caller's own credential. Used within this bridge, never sent to an MCP server. */
  public static final String AUTHORIZATION = "dev.mcpbridge/authorization";

  /** Milliseconds until the call is cancelled. Used within this bridge. */
  public static final String TIMEOUT = "dev.mcpbridge/timeout";

  /**
   * In a result: whether it is from the cache of the bridge. In a call: {@code no-cache} for a new
   * result, {@code no-store} for one that is not kept either.
   */
  public static final String CACHE = "dev.mcpbridge/cache";

  /** In a call: how urgent it is, from 0 to 7, as in {@link Urgency}. */
  public static final String PRIORITY = "dev.mcpbridge/priority";

  /** The id of a bridge, in the result of {@code initialize} or {@code server/discover}. */
  public static final String BRIDGE = "dev.mcpbridge/bridge";

  /** The operations of an API that are not offered, in the result of {@code tools/list}. */
  public static final String OMITTED = "dev.mcpbridge/omitted";

  /** In a call: the caller is a bridge that can have the call confirmed by a human. */
  public static final String CONFIRMS = "dev.mcpbridge/confirms";

  /** In the response to such a call, which was not executed: the confirmation's id and token. */
  public static final String CONFIRMATION = "dev.mcpbridge/confirmation";

  /** In a call: the confirmation that a human has approved. */
  public static final String CONFIRMED = "dev.mcpbridge/confirmed";

  /** The bridges that a request has passed, or through which a list entry is reached. */
  public static final String VIA = "dev.mcpbridge/via";

  private static final Set<String> PER_HOP =
      Set.of(
          VERSION,
          CAPABILITIES,
          CLIENT_INFO,
          LOG_LEVEL,
          SUBSCRIPTION,
          PROGRESS_TOKEN,
          BAGGAGE,
          AUTHORIZATION,
          TIMEOUT,
          CACHE,
          PRIORITY,
          CONFIRMS,
          CONFIRMED);

  /** Members added in transit by bridges and tracing, without effect on the call. */
  private static final Set<String> IN_TRANSIT = Set.of(VIA, TRACEPARENT, TRACESTATE);

  private MetaKeys() {}

  /** Whether each hop writes the member itself; unknown members are forwarded. */
  public static boolean isPerHop(String key) {
    return PER_HOP.contains(key);
  }

  /** Whether the human who confirms a call must see it, because it may affect the call. */
  public static boolean isReviewed(String key) {
    return !isPerHop(key) && !IN_TRANSIT.contains(key);
  }
}
