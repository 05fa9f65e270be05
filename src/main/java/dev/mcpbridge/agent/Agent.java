package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ChatRequest;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Tracer;
import java.util.ArrayList;
import java.util.List;

/**
 * A conversation with a model that can call tools. Not thread-safe. {@link #ask} blocks; an
 * interrupt of its thread cancels the question but keeps the conversation.
 */
public final class Agent {
  private ChatModel model;
  private final AgentTools tools;
  private final List<AgentListener> listeners;
  private final AgentLimits agentLimits;
  private final CallRunner runner;
  private final ResultFormatter resultFormatter;
  private final Tracer tracer;
  private final List<JsonNode> messages = new ArrayList<>();

  /** Has the context of the current question's trace. */
  private Envelope trace = Envelope.NONE;

  /** Tokens of the current question so far. */
  private ModelReply.Usage usage = ModelReply.Usage.NONE;

  /**
   * @param listeners each receives every event, in this order
   */
  public Agent(
      ChatModel model,
      AgentTools tools,
      Approver approver,
      List<AgentListener> listeners,
      AgentLimits agentLimits,
      Tracer tracer) {
    this.tracer = tracer;
    this.model = model;
    this.tools = tools;
    this.listeners = List.copyOf(listeners);
    this.agentLimits = agentLimits;
    this.runner = new CallRunner(tools, approver, this.listeners);
    this.resultFormatter = new ResultFormatter(RandomIds.hex(6), agentLimits.resultCharacters());
  }

  /** Creates an agent without listeners and with the default limits. */
  public Agent(ChatModel model, AgentTools tools, Approver approver) {
    this(model, tools, approver, List.of(), AgentLimits.DEFAULTS, Tracer.OFF);
  }

  /** How a question ended. */
  public enum Outcome {
    ANSWERED,
    /** The answer was cut off at its token limit. */
    CUT,
    REFUSED,
    /** The limit of model requests was reached; the answer is what was found so far. */
    OUT_OF_STEPS
  }

  /** The answer to a question. */
  public record Answer(String text, Outcome outcome, int steps, ModelReply.Usage usage) {}

  /**
   * Asks a question and runs the calls of the model until it answers.
   *
   * @throws BridgeException if the model or the bridge fails; the earlier conversation is kept, and
   *     so is the question if calls have been made for it
   */
  public Answer ask(String question) throws InterruptedException {
    listeners.forEach(each -> each.onQuestion(question));
    Span span = tracer.root(Conventions.AGENT_SPAN);
    trace = span.in(Envelope.NONE);
    tools.follow(trace);
    try {
      return answer(question);
    } catch (BridgeException e) {
      span.failed(e.code().slug());
      throw e;
    } catch (InterruptedException e) {
      span.failed(ErrorCode.CANCELLED.slug());
      throw e;
    } finally {
      span.end();
      tools.follow(Envelope.NONE);
    }
  }

  private Answer answer(String question) throws InterruptedException {
    JsonNode toolDefinitions = tools.list(model.format());
    int before = messages.size();
    usage = ModelReply.Usage.NONE;
    messages.add(model.userMessage(question));
    try {
      return answer(toolDefinitions);
    } catch (BridgeException | InterruptedException e) {
      boolean hasCalls = messages.size() > before + 1;
      if (!hasCalls) {
        messages.remove(before);
      }
      throw e;
    }
  }

  private Answer answer(JsonNode toolDefinitions) throws InterruptedException {
    for (int step = 1; step <= agentLimits.steps(); step++) {
      ModelReply modelReply = next(toolDefinitions, step, true);
      if (modelReply.calls().isEmpty()) {
        return new Answer(modelReply.text(), outcome(modelReply), step, usage);
      }
      run(modelReply);
    }
    messages.add(model.userMessage(Prompts.FINAL));
    ModelReply last = next(toolDefinitions, agentLimits.steps() + 1, false);
    if (!last.calls().isEmpty()) {
      messages.remove(messages.size() - 1);
    }
    return new Answer(last.text(), Outcome.OUT_OF_STEPS, agentLimits.steps(), usage);
  }

  private ModelReply next(JsonNode toolDefinitions, int step, boolean mayCall)
      throws InterruptedException {
    listeners.forEach(each -> each.onStep(step));
    Span span = ModelSpan.begin(tracer, model, trace);
    try {
      ModelReply modelReply = reply(toolDefinitions, mayCall);
      ModelSpan.used(span, modelReply);
      usage = usage.plus(modelReply.usage());
      messages.add(modelReply.message());
      listeners.forEach(each -> each.onReply(modelReply));
      return modelReply;
    } catch (BridgeException e) {
      span.failed(e.code().slug());
      throw e;
    } finally {
      span.end();
    }
  }

  private ModelReply reply(JsonNode toolDefinitions, boolean mayCall) throws InterruptedException {
    return model.reply(
        new ChatRequest(Prompts.instructions(resultFormatter), toolDefinitions, messages, mayCall),
        new ChatModel.ModelListener() {
          @Override
          public void onText(String more) {
            listeners.forEach(each -> each.onText(more));
          }

          @Override
          public void onRetry(long millis, String why) {
            listeners.forEach(each -> each.onRetry(millis, why));
          }
        });
  }

  /** Every call gets a result, even after a failure: all APIs require one for each call. */
  private void run(ModelReply modelReply) throws InterruptedException {
    List<ToolOutcome> outcomes = new ArrayList<>();
    ToolOutcome missing = CallRunner.unknownOutcome(null);
    try {
      runner.run(modelReply.calls(), outcomes);
    } catch (BridgeException e) {
      missing = CallRunner.unknownOutcome(e);
      throw e;
    } finally {
      List<FunctionResult> answers = new ArrayList<>();
      for (int i = 0; i < modelReply.calls().size(); i++) {
        ToolOutcome outcome = i < outcomes.size() ? outcomes.get(i) : missing;
        answers.add(resultFormatter.format(modelReply.calls().get(i), outcome));
      }
      messages.addAll(model.resultMessages(answers));
    }
  }

  private static Outcome outcome(ModelReply modelReply) {
    return switch (modelReply.end()) {
      case DONE -> Outcome.ANSWERED;
      case CUT -> Outcome.CUT;
      case REFUSED -> Outcome.REFUSED;
    };
  }

  /** Starts a new conversation and revokes its approvals. */
  public void clear() {
    messages.clear();
    runner.clearApprovals();
  }

  /** The current model. */
  public ChatModel model() {
    return model;
  }

  /**
   * Continues the conversation with another model of the same message format.
   *
   * @throws IllegalArgumentException if the model has a different message format
   */
  public void switchModel(ChatModel other) {
    if (other.format() != model.format()) {
      throw new IllegalArgumentException("The model has a different message format");
    }
    model = other;
  }
}
