package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionAnswer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.Conversation;
import dev.mcpbridge.llm.Reply;
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
  private final Watcher watcher;
  private final Limits limits;
  private final CallRunner runner;
  private final Results results;
  private final List<JsonNode> messages = new ArrayList<>();
  private Reply.Usage usage = Reply.Usage.NONE;

  public Agent(ChatModel model, BridgeTools tools, Human human, Watcher watcher, Limits limits) {
    this.model = model;
    this.tools = tools;
    this.watcher = watcher;
    this.limits = limits;
    this.runner = new CallRunner(tools, human, watcher);
    this.results = new Results(limits.resultCharacters());
  }

  /** One that nobody watches, within the usual limits. */
  public Agent(ChatModel model, BridgeTools tools, Human human) {
    this(model, tools, human, new Watcher() {}, Limits.USUAL);
  }

  /** How a question ended. */
  public enum How {
    ANSWERED,
    /** The answer was longer than it may be. */
    CUT,
    REFUSED,
    /** The model was asked as often as it may be; the answer is what was found so far. */
    OUT_OF_STEPS
  }

  /** The answer to a question. */
  public record Answer(String text, How how, int steps, Reply.Usage usage) {}

  /**
   * Asks, and lets the model call what it needs to.
   *
   * @throws BridgeException where the model or the bridge cannot be used; what was said before
   *     stays
   */
  public Answer ask(String question) throws InterruptedException {
    watcher.asked(question);
    JsonNode offered = tools.list(model.format(), limits.manyTools());
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
    Reply.Usage before = usage;
    for (int step = 1; step <= limits.steps(); step++) {
      Reply reply = next(offered, step, true);
      if (reply.calls().isEmpty()) {
        return new Answer(reply.text(), how(reply), step, since(before));
      }
      run(reply);
    }
    messages.add(model.user(LAST));
    Reply last = next(offered, limits.steps() + 1, false);
    if (!last.calls().isEmpty()) {
      messages.remove(messages.size() - 1);
    }
    return new Answer(last.text(), How.OUT_OF_STEPS, limits.steps(), since(before));
  }

  private Reply next(JsonNode offered, int step, boolean mayCall) throws InterruptedException {
    watcher.thinks(step);
    Reply reply =
        model.reply(
            new Conversation(instructions(), offered, messages, mayCall),
            new ChatModel.Heard() {
              @Override
              public void words(String more) {
                watcher.says(more);
              }

              @Override
              public void waits(long millis, String why) {
                watcher.waits(millis, why);
              }
            });
    usage = usage.plus(reply.usage());
    messages.add(reply.message());
    watcher.said(reply);
    return reply;
  }

  /** Every call gets an answer, whatever happens: no API takes a conversation without. */
  private void run(Reply reply) throws InterruptedException {
    List<ToolEnd> ends = new ArrayList<>();
    ToolEnd otherwise = CallRunner.unknown(null);
    try {
      runner.run(reply.calls(), ends);
    } catch (BridgeException e) {
      otherwise = CallRunner.unknown(e);
      throw e;
    } finally {
      List<FunctionAnswer> answers = new ArrayList<>();
      for (int i = 0; i < reply.calls().size(); i++) {
        ToolEnd end = i < ends.size() ? ends.get(i) : otherwise;
        answers.add(results.shown(reply.calls().get(i), end));
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

  private static How how(Reply reply) {
    return switch (reply.end()) {
      case DONE -> How.ANSWERED;
      case CUT -> How.CUT;
      case REFUSED -> How.REFUSED;
    };
  }

  private Reply.Usage since(Reply.Usage before) {
    return new Reply.Usage(usage.input() - before.input(), usage.output() - before.output());
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
        + results.rule();
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
  public Reply.Usage usage() {
    return usage;
  }
}
