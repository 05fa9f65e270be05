package dev.mcpbridge.api;

import dev.mcpbridge.agent.Agent.Outcome;
import dev.mcpbridge.agent.Approver;
import dev.mcpbridge.error.BridgeException;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A conversation with a model that can call tools: it asks the model, runs the calls of its reply,
 * and asks again, at most 25 times for one question. Blocks, on the thread that asks: not for event
 * loops. Not thread-safe.
 */
public final class Agent {
  private static final Map<Outcome, End> ENDS =
      Map.of(
          Outcome.ANSWERED, End.ANSWERED,
          Outcome.CUT, End.CUT,
          Outcome.REFUSED, End.REFUSED,
          Outcome.OUT_OF_STEPS, End.OUT_OF_STEPS);

  private final dev.mcpbridge.agent.Agent agent;

  /**
   * @param approves asked on the thread of {@link #ask} about each call that a human has to approve
   */
  public Agent(
      Model model,
      Tools tools,
      Predicate<dev.mcpbridge.api.Outcome.ConfirmationRequired> approves) {
    InProcessTools inProcess = new InProcessTools(tools);
    Approver approver =
        call -> approves.test(inProcess.held(call)) ? Approver.Decision.YES : Approver.Decision.NO;
    this.agent = new dev.mcpbridge.agent.Agent(model.open(), inProcess, approver);
  }

  /** An agent whose calls never run if a human has to approve them. */
  public Agent(Model model, Tools tools) {
    this(model, tools, call -> false);
  }

  /** How a question ended. */
  public enum End {
    ANSWERED,
    /** The answer was cut off at its token limit. */
    CUT,
    /** The model refuses to answer. */
    REFUSED,
    /** The limit of requests was reached; the answer is what was found so far. */
    OUT_OF_STEPS
  }

  /**
   * The answer to a question.
   *
   * @param steps requests to the model
   */
  public record Answer(String text, End end, int steps) {}

  /**
   * Asks a question. An interrupt cancels it and keeps the conversation before it.
   *
   * @throws BridgeFailure if the model cannot be reached or its answer cannot be used
   */
  public Answer ask(String question) throws InterruptedException {
    try {
      dev.mcpbridge.agent.Agent.Answer answer = agent.ask(question);
      return new Answer(answer.text(), ENDS.get(answer.outcome()), answer.steps());
    } catch (BridgeException e) {
      throw new BridgeFailure(e);
    }
  }

  /** Begins a new conversation. */
  public void clear() {
    agent.clear();
  }
}
