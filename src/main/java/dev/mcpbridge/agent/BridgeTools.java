package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.PercentEncoding;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The tools of a bridge, over its {@code /toolcall} endpoint. Blocking. An interrupt of the thread
 * ends a request, and the bridge cancels the calls that are still running. Not thread-safe.
 */
public final class BridgeTools implements AgentTools {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** With more tools, a model gets only those to find the others. */
  public static final int MAX_LISTED = 100;

  private final BridgeHttp http;
  private boolean isLean;

  /**
   * @param key null for a bridge without keys
   */
  public BridgeTools(URI bridge, String key) {
    this(() -> new BridgeAddress(bridge, () -> key));
  }

  /**
   * @param bridge called once, on the first request; may block
   */
  public BridgeTools(Supplier<BridgeAddress> bridge) {
    this.http = new BridgeHttp(bridge);
  }

  /**
   * The address of a bridge.
   *
   * @param credential an API key or an access token, for each request; null for none; may block
   */
  public record BridgeAddress(URI url, Supplier<String> credential) {
    public BridgeAddress {
      url = URI.create(url.toString().replaceAll("/+$", ""));
    }

    /** Without a credential. */
    @Override
    public String toString() {
      return url.toString();
    }
  }

  @Override
  public void follow(Envelope trace) {
    http.follow(trace);
  }

  /** Of more than 100 tools, only three to find the others. */
  @Override
  public JsonNode list(Format format) throws InterruptedException {
    String path = "/toolcall/tools?format=" + format.id();
    JsonNode all = http.get(path).path("tools");
    isLean = count(all) > MAX_LISTED;
    return isLean ? http.get(path + "&discovery=search").path("tools") : all;
  }

  private static int count(JsonNode tools) {
    JsonNode declared = tools.path(0).path("functionDeclarations");
    return declared.isArray() ? declared.size() : tools.size();
  }

  @Override
  public List<ToolOutcome> run(List<FunctionCall> calls) throws InterruptedException {
    ObjectNode body = JSON.objectNode();
    ArrayNode list = body.putArray("tool_calls");
    for (int i = 0; i < calls.size(); i++) {
      list.add(json("call_" + i, calls.get(i)));
    }
    String path = "/toolcall?format=openai-chat" + (isLean ? "&discovery=search" : "");
    JsonNode responses =
        http.exchange("POST", path, body.toString()).expected().path("tool_responses");
    if (responses.size() != calls.size()) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_PROTOCOL_ERROR,
          "The bridge answered " + responses.size() + " of " + calls.size() + " calls");
    }
    List<ToolOutcome> outcomes = new ArrayList<>();
    for (JsonNode response : responses) {
      outcomes.add(ToolOutcomes.read(response));
    }
    return outcomes;
  }

  /** A call as in Chat Completions. */
  static ObjectNode json(String id, FunctionCall call) {
    ObjectNode json = JSON.objectNode().put("id", id).put("type", "function");
    json.putObject("function").put("name", call.name()).put("arguments", call.arguments().text());
    return json;
  }

  @Override
  public ToolOutcome approve(ToolOutcome.Pending call) throws InterruptedException {
    BridgeHttp.Response response = decide(call, true);
    JsonNode result = response.body();
    return response.ok()
        ? new ToolOutcome.Result(
            result.path("isError").asBoolean(),
            ToolOutcomes.content(result.path("content"), result.path("structuredContent")))
        : failure(call.server(), response);
  }

  /** The problem for a model, and whether the call was executed; or the consent that it needs. */
  private static ToolOutcome failure(String server, BridgeHttp.Response response) {
    Executed executed = Executed.of(response.body().path("executed").asText());
    String code = response.body().path("code").asText("error");
    if (code.equals("consent_required") && response.body().has("connect_url")) {
      return new ToolOutcome.ConsentRequired(
          server, response.body().path("connect_url").asText(), response.problem());
    }
    return new ToolOutcome.Failure(code + ": " + response.problem() + "\n" + executed.sentence());
  }

  @Override
  public void reject(ToolOutcome.Pending call) throws InterruptedException {
    decide(call, false);
  }

  private BridgeHttp.Response decide(ToolOutcome.Pending call, boolean yes)
      throws InterruptedException {
    ObjectNode decision = JSON.objectNode().put("confirm", yes);
    if (call.token() != null) {
      decision.put("token", call.token());
    }
    return http.exchange(
        "POST", "/confirmations/" + PercentEncoding.encoded(call.id()), decision.toString());
  }

  /** All tools, as in {@code GET /tools}. */
  public JsonNode all() throws InterruptedException {
    return http.get("/tools").path("tools");
  }

  /** All servers, as in {@code GET /servers}. */
  public JsonNode servers() throws InterruptedException {
    return http.get("/servers").path("servers");
  }
}
