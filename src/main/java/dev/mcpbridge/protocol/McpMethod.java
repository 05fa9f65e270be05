package dev.mcpbridge.protocol;

import java.util.Set;

/** The MCP methods that the bridge sends or handles, by their wire names. */
public final class McpMethod {
  public static final String INITIALIZE = "initialize";
  public static final String INITIALIZED = "notifications/initialized";
  public static final String PING = "ping";
  public static final String TOOLS_LIST = "tools/list";
  public static final String TOOLS_CALL = "tools/call";
  public static final String RESOURCES_LIST = "resources/list";
  public static final String RESOURCES_READ = "resources/read";
  public static final String TEMPLATES_LIST = "resources/templates/list";
  public static final String PROMPTS_LIST = "prompts/list";
  public static final String PROMPTS_GET = "prompts/get";
  public static final String SET_LEVEL = "logging/setLevel";
  public static final String CANCELLED = "notifications/cancelled";
  public static final String PROGRESS = "notifications/progress";
  public static final String MESSAGE = "notifications/message";
  public static final String TOOLS_CHANGED = "notifications/tools/list_changed";
  public static final String RESOURCES_CHANGED = "notifications/resources/list_changed";
  public static final String PROMPTS_CHANGED = "notifications/prompts/list_changed";

  public static final String SUBSCRIBE = "resources/subscribe";
  public static final String UNSUBSCRIBE = "resources/unsubscribe";
  public static final String RESOURCE_UPDATED = "notifications/resources/updated";
  public static final String COMPLETE = "completion/complete";
  public static final String DISCOVER = "server/discover";
  public static final String LISTEN = "subscriptions/listen";
  public static final String ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
  public static final String ELICIT = "elicitation/create";
  public static final String ELICIT_COMPLETE = "notifications/elicitation/complete";

  private static final Set<String> REQUESTS =
      Set.of(
          INITIALIZE,
          PING,
          TOOLS_LIST,
          TOOLS_CALL,
          RESOURCES_LIST,
          RESOURCES_READ,
          TEMPLATES_LIST,
          PROMPTS_LIST,
          PROMPTS_GET,
          SET_LEVEL,
          SUBSCRIBE,
          UNSUBSCRIBE,
          COMPLETE,
          DISCOVER,
          LISTEN);

  private McpMethod() {}

  /** Whether clients send requests with this method. */
  public static boolean isRequest(String method) {
    return REQUESTS.contains(method);
  }
}
