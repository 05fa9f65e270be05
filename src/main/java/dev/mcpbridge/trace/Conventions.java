package dev.mcpbridge.trace;

/**
 * The names of spans and attributes. Those of HTTP are of the OpenTelemetry semantic conventions
 * 1.44.0 (stable); those of MCP and of generative AI follow semantic-conventions-genai as of
 * November 2026, which is in development.
 */
public final class Conventions {
  public static final String HTTP_METHOD = "http.request.method";
  public static final String HTTP_ROUTE = "http.route";
  public static final String HTTP_STATUS = "http.response.status_code";
  public static final String URL_PATH = "url.path";
  public static final String URL_SCHEME = "url.scheme";
  public static final String CLIENT_ADDRESS = "client.address";
  public static final String SERVER_ADDRESS = "server.address";
  public static final String SERVER_PORT = "server.port";

  /** {@code tcp} or {@code pipe}. */
  public static final String NETWORK_TRANSPORT = "network.transport";

  /** The code of a failure, {@code tool_error} for a result with isError, or an HTTP status. */
  public static final String ERROR_TYPE = "error.type";

  public static final String MCP_METHOD = "mcp.method.name";
  public static final String MCP_VERSION = "mcp.protocol.version";
  public static final String MCP_RESOURCE = "mcp.resource.uri";
  public static final String RPC_ID = "jsonrpc.request.id";

  public static final String TOOL_NAME = "gen_ai.tool.name";
  public static final String PROMPT_NAME = "gen_ai.prompt.name";
  public static final String OPERATION = "gen_ai.operation.name";
  public static final String EXECUTE_TOOL = "execute_tool";
  public static final String AGENT_SPAN = "invoke_agent";
  public static final String CHAT = "chat";
  public static final String PROVIDER = "gen_ai.provider.name";
  public static final String MODEL = "gen_ai.request.model";
  public static final String INPUT_TOKENS = "gen_ai.usage.input_tokens";
  public static final String OUTPUT_TOKENS = "gen_ai.usage.output_tokens";

  /** The spans of the bridge itself. */
  public static final String GATE_SPAN = "gate";

  public static final String QUEUE_SPAN = "queue";
  public static final String NODE_SPAN = "node";

  public static final String SERVER = "mcp_bridge.server";

  /** {@code allow}, {@code confirm}, {@code isolate} or {@code refuse}. */
  public static final String GATE = "mcp_bridge.gate";

  /** Whether the call was executed: {@code yes}, {@code no} or {@code unknown}. */
  public static final String EXECUTED = "mcp_bridge.executed";

  /** Name of the other node. */
  public static final String NODE = "mcp_bridge.node";

  public static final String CONTAINER = "mcp_bridge.container";

  /** An error of a tool: its result has isError. */
  public static final String TOOL_ERROR = "tool_error";

  private Conventions() {}
}
