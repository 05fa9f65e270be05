package dev.mcpbridge.protocol;

import java.util.Set;

/** The keys of {@code _meta} that 2026-07-28 reserves (basic/index). */
public final class MetaKeys {
  public static final String PREFIX = "io.modelcontextprotocol/";
  public static final String VERSION = PREFIX + "protocolVersion";
  public static final String CAPABILITIES = PREFIX + "clientCapabilities";
  public static final String CLIENT_INFO = PREFIX + "clientInfo";
  public static final String LOG_LEVEL = PREFIX + "logLevel";
  public static final String SUBSCRIPTION = PREFIX + "subscriptionId";
  public static final String SERVER_INFO = PREFIX + "serverInfo";
  public static final String PROGRESS_TOKEN = "progressToken";

  /** The caller's own credential, within this bridge: never sent to an MCP server. */
  public static final String AUTHORIZATION = "dev.mcpbridge/authorization";

  /** Where the user of an API's server logs in: {@code {"server": …, "url": …}}. */
  public static final String LOGIN = "dev.mcpbridge/login";

  /** The id of a bridge, in the result of its introduction. */
  public static final String BRIDGE = "dev.mcpbridge/bridge";

  /** What of an API is not offered, with the list of its tools. */
  public static final String OMITTED = "dev.mcpbridge/omitted";

  /** In a call: who makes it, another bridge, has a human of its own who can confirm it. */
  public static final String CONFIRMS = "dev.mcpbridge/confirms";

  /** In the answer to such a call, which has not run: the id and the token of its confirmation. */
  public static final String CONFIRMATION = "dev.mcpbridge/confirmation";

  /** In a call: the confirmation that was answered, and that a human has said yes. */
  public static final String CONFIRMED = "dev.mcpbridge/confirmed";

  /** The bridges that a request has passed, or over which an entry of a list is reached. */
  public static final String VIA = "dev.mcpbridge/via";

  private static final Set<String> PER_HOP =
      Set.of(
          VERSION,
          CAPABILITIES,
          CLIENT_INFO,
          LOG_LEVEL,
          SUBSCRIPTION,
          PROGRESS_TOKEN,
          AUTHORIZATION,
          CONFIRMS,
          CONFIRMED);

  /** Members that bridges and tracing write on the way, and that change nothing of what is run. */
  private static final Set<String> OF_THE_WAY = Set.of(VIA, "traceparent", "tracestate");

  private MetaKeys() {}

  /** Whether each hop writes it itself; what is not known is passed on. */
  public static boolean isPerHop(String key) {
    return PER_HOP.contains(key);
  }

  /** Whether a human who approves a call has to see it, since it may change what the call does. */
  public static boolean isShown(String key) {
    return !isPerHop(key) && !OF_THE_WAY.contains(key);
  }
}
