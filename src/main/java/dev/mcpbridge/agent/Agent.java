package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionAnswer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ChatRequest;
import dev.mcpbridge.llm.ModelReply;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/**
 * A conversation with a model that has the tools of a bridge. For one thread at a time; {@link
 * #ask} blocks, and an interruption of its thread ends the question and not the conversation.
 */
public final class Agent {
  private static final String LAST =
      "No more tools can be called for this question. Answer with what was found so far, and say"
          + " what is missing.";

  private ChatModel model;
  private final BridgeTools tools;
  private final AgentListener agentListener;
  private final AgentLimits agentLimits;
  private final CallRunner runner;
  private final ResultFormatter resultFormatter;
  private final List<JsonNode> messages = new ArrayList<>();
  private ModelReply.Usage usage = ModelReply.Usage.NONE;

  public Agent(
      ChatModel model,
      BridgeTools tools,
      Approver approver,
      AgentListener agentListener,
      AgentLimits agentLimits) {
    this.model = model;
    this.tools = tools;
    this.agentListener = agentListener;
    this.agentLimits = agentLimits;
    this.runner = new CallRunner(tools, approver, agentListener);
    this.resultFormatter = new ResultFormatter(agentLimits.resultCharacters());
  }

  /** One that nobody watches, within the usual limits. */
  public Agent(ChatModel model, BridgeTools tools, Approver approver) {
    this(model, tools, approver, new AgentListener() {}, AgentLimits.USUAL);
  }

  /** How a question ended. */
  public enum Outcome {
    ANSWERED,
    /** The answer was longer than it may be. */
    CUT,
    REFUSED,
    /** The model was asked as often as it may be; the answer is what was found so far. */
    OUT_OF_STEPS
  }

  /** The answer to a question. */
  public record Answer(String text, Outcome outcome, int steps, ModelReply.Usage usage) {}

  /**
   * Asks, and lets the model call what it needs to.
   *
   * @throws BridgeException where the model or the bridge cannot be used; what was said before
   *     stays
   */
  public Answer ask(String question) throws InterruptedException {
    agentListener.asked(question);
    JsonNode offered = tools.list(model.format(), agentLimits.manyTools());
    int before = messages.size();
    messages.add(model.user(question));
    try {
      return answer(offered);
    } catch (BridgeException | InterruptedException e) {
      forgetUnlessCalled(before);
      throw e;
    }
  }

  private Answer answer(JsonNode offered) throws InterruptedException {
    ModelReply.Usage before = usage;
    for (int step = 1; step <= agentLimits.steps(); step++) {
      ModelReply modelReply = next(offered, step, true);
      if (modelReply.calls().isEmpty()) {
        return new Answer(modelReply.text(), how(modelReply), step, since(before));
      }
      run(modelReply);
    }
    messages.add(model.user(LAST));
    ModelReply last = next(offered, agentLimits.steps() + 1, false);
    if (!last.calls().isEmpty()) {
      messages.remove(messages.size() - 1);
    }
    return new Answer(last.text(), Outcome.OUT_OF_STEPS, agentLimits.steps(), since(before));
  }

  private ModelReply next(JsonNode offered, int step, boolean mayCall) throws InterruptedException {
    agentListener.thinks(step);
    ModelReply modelReply =
        model.reply(
            new ChatRequest(instructions(), offered, messages, mayCall),
            new ChatModel.ModelListener() {
              @Override
              public void words(String more) {
                agentListener.says(more);
              }

              @Override
              public void waits(long millis, String why) {
                agentListener.waits(millis, why);
              }
            });
    usage = usage.plus(modelReply.usage());
    messages.add(modelReply.message());
    agentListener.said(modelReply);
    return modelReply;
  }

  /** Every call gets an answer, whatever happens: no API takes a conversation without. */
  private void run(ModelReply modelReply) throws InterruptedException {
    List<ToolOutcome> ends = new ArrayList<>();
    ToolOutcome otherwise = CallRunner.unknown(null);
    try {
      runner.run(modelReply.calls(), ends);
    } catch (BridgeException e) {
      otherwise = CallRunner.unknown(e);
      throw e;
    } finally {
      List<FunctionAnswer> answers = new ArrayList<>();
      for (int i = 0; i < modelReply.calls().size(); i++) {
        ToolOutcome end = i < ends.size() ? ends.get(i) : otherwise;
        answers.add(resultFormatter.shown(modelReply.calls().get(i), end));
      }
      messages.addAll(model.results(answers));
    }
  }

  /** A question that came to nothing was not asked; one with calls is part of what happened. */
  private void forgetUnlessCalled(int before) {
    if (messages.size() == before + 1) {
      messages.remove(before);
    }
  }

  private static Outcome how(ModelReply modelReply) {
    return switch (modelReply.end()) {
      case DONE -> Outcome.ANSWERED;
      case CUT -> Outcome.CUT;
      case REFUSED -> Outcome.REFUSED;
    };
  }

  private ModelReply.Usage since(ModelReply.Usage before) {
    return new ModelReply.Usage(usage.input() - before.input(), usage.output() - before.output());
  }

  private String instructions() {
    return "You help a user by means of tools. It is "
        + ZonedDateTime.now().format(DateTimeFormatter.ISO_OFFSET_DATE_TIME)
        + ".\n"
        + "Call tools where they help, several at once where they do not depend on each other."
        + " Never claim that something was done unless a tool's answer says so. Where a call"
        + " failed, say so; where it is not known whether it was executed, do not repeat it"
        + " before you have looked. Some calls wait for the user's approval; a refusal is"
        + " final. Answer in Markdown.\n"
        + resultFormatter.rule();
  }

  /** Begins anew. */
  public void clear() {
    messages.clear();
    runner.forget();
  }

  /** The one that is asked. */
  public ChatModel model() {
    return model;
  }

  /**
   * Goes on with another model of the same provider.
   *
   * @throws IllegalArgumentException for one that would not understand what was said before
   */
  public void use(ChatModel other) {
    if (other.format() != model.format()) {
      throw new IllegalArgumentException("It speaks another format");
    }
    model = other;
  }

  /** Tokens since the beginning. */
  public ModelReply.Usage usage() {
    return usage;
  }
}
