package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ChatRequest;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Tracer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One turn of a model, in a conversation that its client keeps: the client sends the messages that
 * it has received so far and what is new, and makes the calls of the reply itself. Immutable.
 *
 * @param conversation the marks of results, the same in the whole conversation
 * @param messages of the conversation, in the format of the model
 * @param question new words of the user; null without a question
 * @param results responses to the calls of the last message, as in {@code tool_responses}
 * @param mayCall false if the model must answer without calls
 */
public record ModelTurn(
    String conversation,
    List<JsonNode> messages,
    String question,
    List<JsonNode> results,
    boolean mayCall) {
  private static final Pattern CONVERSATION = Pattern.compile("[0-9a-f]{12}");
  private static final Set<String> MEMBERS =
      Set.of("conversation", "messages", "question", "results", "may_call");

  /**
   * @throws BridgeException INVALID_ARGUMENTS, with the member that is wrong
   */
  public static ModelTurn read(JsonNode body) {
    body.fieldNames()
        .forEachRemaining(name -> require(MEMBERS.contains(name), "Unknown member '" + name + "'"));
    JsonNode conversation = body.path("conversation");
    require(
        conversation.isMissingNode() || CONVERSATION.matcher(conversation.asText()).matches(),
        "'conversation' must be the one of an earlier reply");
    JsonNode question = body.path("question");
    require(
        question.isMissingNode() || question.isTextual() && !question.asText().isBlank(),
        "'question' must be a text");
    JsonNode mayCall = body.path("may_call");
    require(mayCall.isMissingNode() || mayCall.isBoolean(), "'may_call' must be true or false");
    List<JsonNode> results = objects(body, "results");
    require(
        question.isTextual() || !results.isEmpty(), "Either 'question' or 'results' is required");
    return new ModelTurn(
        conversation.isMissingNode() ? RandomIds.hex(6) : conversation.asText(),
        objects(body, "messages"),
        question.textValue(),
        results,
        mayCall.asBoolean(true));
  }

  private static List<JsonNode> objects(JsonNode body, String name) {
    JsonNode list = body.path(name);
    require(list.isMissingNode() || list.isArray(), "'" + name + "' must be a list");
    List<JsonNode> objects = new ArrayList<>();
    for (JsonNode each : list) {
      require(each.isObject(), "'" + name + "[" + objects.size() + "]' must be an object");
      objects.add(each);
    }
    return List.copyOf(objects);
  }

  private static void require(boolean isMet, String otherwise) {
    if (!isMet) {
      throw new BridgeException(ErrorCode.INVALID_ARGUMENTS, otherwise);
    }
  }

  /**
   * The reply of the model.
   *
   * @param messages to add to the conversation: those of the request, and the reply
   */
  public record Reply(String conversation, List<JsonNode> messages, ModelReply modelReply) {

    /**
     * @param callsTo where the client posts the calls
     */
    public JsonSlice json(String callsTo) {
      ObjectNode json = JsonNodeFactory.instance.objectNode().put("conversation", conversation);
      json.putArray("messages").addAll(messages);
      json.put("text", modelReply.text());
      ArrayNode calls = json.putArray("calls");
      for (FunctionCall call : modelReply.calls()) {
        String id = call.id() == null ? "call_" + calls.size() : call.id();
        calls.add(BridgeTools.json(id, call));
      }
      json.put("calls_to", callsTo).put("end", modelReply.end().name().toLowerCase(Locale.ROOT));
      json.putObject("usage")
          .put("input", modelReply.usage().input())
          .put("output", modelReply.usage().output());
      return Json.slice(json);
    }
  }

  /**
   * Requests the reply. Blocks, and can be interrupted.
   *
   * @param tools definitions in the format of the model
   * @param parent has the context of the request's trace
   * @throws BridgeException INVALID_ARGUMENTS if the results do not match the calls; else as of
   *     {@link ChatModel#reply}
   */
  public Reply run(
      ChatModel model,
      JsonNode tools,
      ChatModel.ModelListener modelListener,
      Tracer tracer,
      Envelope parent)
      throws InterruptedException {
    ResultFormatter formatter =
        new ResultFormatter(conversation, AgentLimits.DEFAULTS.resultCharacters());
    List<JsonNode> added = new ArrayList<>();
    if (!results.isEmpty()) {
      added.addAll(model.resultMessages(formatted(model, formatter)));
    }
    if (question != null) {
      added.add(model.userMessage(question));
    }
    if (!mayCall) {
      added.add(model.userMessage(Prompts.FINAL));
    }
    List<JsonNode> all = new ArrayList<>(messages);
    all.addAll(added);
    ChatRequest request = new ChatRequest(Prompts.instructions(formatter), tools, all, mayCall);
    Span span = ModelSpan.begin(tracer, model, parent);
    try {
      ModelReply reply = model.reply(request, modelListener);
      ModelSpan.used(span, reply);
      if (!mayCall && !reply.calls().isEmpty()) {
        return new Reply(conversation, added, withoutCalls(reply));
      }
      added.add(reply.message());
      return new Reply(conversation, added, reply);
    } catch (BridgeException e) {
      span.failed(e.code().slug());
      throw e;
    } finally {
      span.end();
    }
  }

  /** Calls that must not be made would have no results; the message with them is not kept. */
  private static ModelReply withoutCalls(ModelReply reply) {
    return new ModelReply(reply.message(), reply.text(), List.of(), reply.end(), reply.usage());
  }

  private List<FunctionResult> formatted(ChatModel model, ResultFormatter formatter) {
    List<FunctionCall> calls =
        messages.isEmpty()
            ? List.of()
            : model.format().calls(Json.slice(messages.get(messages.size() - 1))).orElse(List.of());
    require(
        calls.isEmpty() || calls.size() == results.size(),
        "The last message has "
            + calls.size()
            + " calls, but there are "
            + results.size()
            + " results");
    List<FunctionResult> formatted = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      JsonNode result = results.get(i);
      FunctionCall call = calls.isEmpty() ? named(result, i) : calls.get(i);
      formatted.add(formatter.format(call, ToolOutcomes.read(result)));
    }
    return formatted;
  }

  /** The call of a model whose messages do not show its calls. */
  private static FunctionCall named(JsonNode result, int index) {
    require(result.path("name").isTextual(), "'results[" + index + "].name' is missing");
    return new FunctionCall(
        result.path("tool_call_id").textValue(),
        result.path("name").textValue(),
        JsonSlice.of("{}"));
  }
}
