package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.PercentEncoding;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The tools of a bridge, over its {@code /toolcall}. Blocking; ends when its thread is interrupted,
 * and the bridge gives up what still runs then.
 */
public final class BridgeTools {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final BridgeHttp http;
  private boolean isLean;

  /**
   * @param key null where the bridge wants none
   */
  public BridgeTools(URI bridge, String key) {
    this(() -> new BridgeAddress(bridge, key));
  }

  /**
   * @param bridge asked once, when it is needed; may block
   */
  public BridgeTools(Supplier<BridgeAddress> bridge) {
    this.http = new BridgeHttp(bridge);
  }

  /**
   * Where a bridge is.
   *
   * @param key null where it wants none
   */
  public record BridgeAddress(URI url, String key) {
    public BridgeAddress {
      url = URI.create(url.toString().replaceAll("/+$", ""));
    }

    /** Without its key. */
    @Override
    public String toString() {
      return url.toString();
    }
  }

  /**
   * The tools as a model wants to be told of them: all, or where they are many three with which the
   * others are found.
   *
   * @return the value of {@code tools}
   */
  public JsonNode list(Format format, int many) throws InterruptedException {
    String path = "/toolcall/tools?format=" + format.word();
    JsonNode all = http.get(path).path("tools");
    isLean = count(all) > many;
    return isLean ? http.get(path + "&discovery=search").path("tools") : all;
  }

  private static int count(JsonNode tools) {
    JsonNode declared = tools.path(0).path("functionDeclarations");
    return declared.isArray() ? declared.size() : tools.size();
  }

  /** Runs all of them at once; what each came to, in their order. */
  public List<ToolOutcome> run(List<FunctionCall> calls) throws InterruptedException {
    ObjectNode body = JSON.objectNode();
    ArrayNode list = body.putArray("tool_calls");
    for (int i = 0; i < calls.size(); i++) {
      ObjectNode call = list.addObject().put("id", "call_" + i).put("type", "function");
      call.putObject("function")
          .put("name", calls.get(i).name())
          .put("arguments", calls.get(i).arguments().text());
    }
    String path = "/toolcall?format=openai-chat" + (isLean ? "&discovery=search" : "");
    JsonNode responses = http.post(path, body).path("tool_responses");
    if (responses.size() != calls.size()) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_PROTOCOL_ERROR,
          "The bridge answered " + responses.size() + " of " + calls.size() + " calls");
    }
    List<ToolOutcome> ends = new ArrayList<>();
    for (JsonNode response : responses) {
      ends.add(end(response));
    }
    return ends;
  }

  private ToolOutcome end(JsonNode response) throws InterruptedException {
    JsonNode output = response.path("output");
    String words = output.path("result").asText(output.path("error").asText(""));
    return switch (response.path("outcome").asText()) {
      case "confirmation_required" -> pending(response.path("confirmation"));
      case "failed" -> new ToolOutcome.Failure(words);
      default ->
          new ToolOutcome.Result(
              response.path("outcome").asText().equals("tool_error"),
              response.has("content")
                  ? parts(response.get("content"), response.path("structured_content"))
                  : List.of(new ContentBlock.Text(words)),
              login(response.path("server_id").asText(), response.path("_meta")));
    };
  }

  private static ToolOutcome.Pending pending(JsonNode confirmation) {
    return new ToolOutcome.Pending(
        confirmation.path("confirmation_id").asText(),
        confirmation.path("token").asText(null),
        confirmation.path("server_id").asText(),
        confirmation.path("tool_name").asText(),
        confirmation.path("arguments"),
        confirmation.path("risk_description").asText());
  }

  private static List<ContentBlock> parts(JsonNode content, JsonNode structured) {
    ObjectNode result = JSON.objectNode();
    result.set("content", content);
    if (!structured.isMissingNode()) {
      result.set("structuredContent", structured);
    }
    return ContentBlock.of(JsonObjects.members(Json.slice(result)));
  }

  /** Only where the operator says so, too: a server could write anything there. */
  private ToolOutcome.Login login(String server, JsonNode meta) throws InterruptedException {
    String url = meta.path("dev.mcpbridge/login").path("url").asText("");
    return !url.isEmpty() && url.equals(loginUrl(server))
        ? new ToolOutcome.Login(server, url)
        : null;
  }

  private String loginUrl(String server) throws InterruptedException {
    try {
      return http.send("GET", "/servers/" + PercentEncoding.encoded(server), null)
          .path("auth_url")
          .asText();
    } catch (BridgeHttp.Refused nobody) {
      return "";
    }
  }

  /** Says yes to what was shown; what the call then came to. */
  public ToolOutcome approve(ToolOutcome.Pending call) throws InterruptedException {
    try {
      JsonNode result = decide(call, true);
      return new ToolOutcome.Result(
          result.path("isError").asBoolean(),
          parts(result.path("content"), result.path("structuredContent")),
          login(call.server(), result.path("_meta")));
    } catch (BridgeHttp.Refused refused) {
      return new ToolOutcome.Failure(refused.sentence());
    }
  }

  /** Says no; nothing runs. */
  public void reject(ToolOutcome.Pending call) throws InterruptedException {
    try {
      decide(call, false);
    } catch (BridgeHttp.Refused gone) {
      // it has expired, or somebody else has decided: either way it does not run for us
    }
  }

  private JsonNode decide(ToolOutcome.Pending call, boolean yes)
      throws InterruptedException, BridgeHttp.Refused {
    ObjectNode decision = JSON.objectNode().put("confirm", yes);
    if (call.token() != null) {
      decision.put("token", call.token());
    }
    return http.send("POST", "/confirmations/" + PercentEncoding.encoded(call.id()), decision);
  }

  /**
   * Leaves the caller's own credential for a server; the bridge uses it for nobody else.
   *
   * @param authorization the value of Authorization
   */
  public void login(String server, String authorization) throws InterruptedException {
    ObjectNode credential = JSON.objectNode().put("authorization", authorization);
    try {
      http.send("PUT", "/servers/" + PercentEncoding.encoded(server) + "/credentials", credential);
    } catch (BridgeHttp.Refused refused) {
      throw refused.failure();
    }
  }

  /** All tools, as {@code GET /tools} shows them. */
  public JsonNode all() throws InterruptedException {
    return http.get("/tools").path("tools");
  }

  /** All servers, as {@code GET /servers} shows them. */
  public JsonNode servers() throws InterruptedException {
    return http.get("/servers").path("servers");
  }
}
