package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Runs the calls of a model reply, with the approvals and consents that they need. */
final class CallRunner {
  private static final String DECLINED =
      "The user has refused this call. It has not run: do not try it again unless the user asks.";
  private static final String STOPPED = "The user has stopped this.";

  private final AgentTools tools;
  private final Approver approver;
  private final List<AgentListener> listeners;
  private final Set<Tool> approved = new HashSet<>();

  private record Tool(String server, String name) {}

  /** The user has cancelled a question, so its call has not run. */
  private static final class QuestionCancelled extends InterruptedException {
    private static final long serialVersionUID = 1L;
  }

  CallRunner(AgentTools tools, Approver approver, List<AgentListener> listeners) {
    this.tools = tools;
    this.approver = approver;
    this.listeners = listeners;
  }

  /**
   * @param outcomes receives the outcome of each call, in order; stays empty if the thread is
   *     interrupted or the bridge fails before the first outcome is known
   */
  void run(List<FunctionCall> calls, List<ToolOutcome> outcomes) throws InterruptedException {
    listeners.forEach(each -> each.onCalls(calls));
    List<ToolOutcome> results = tools.run(calls);
    try {
      for (int i = 0; i < results.size(); i++) {
        FunctionCall call = calls.get(i);
        ToolOutcome outcome = settled(call, results.get(i));
        outcomes.add(outcome);
        listeners.forEach(each -> each.onOutcome(call, outcome));
      }
    } catch (BridgeException | InterruptedException e) {
      cancelRemaining(results, outcomes, e);
      throw e;
    }
  }

  /** Keeps the outcomes of the other calls, and rejects those that wait for an approval. */
  private void cancelRemaining(List<ToolOutcome> results, List<ToolOutcome> outcomes, Exception why)
      throws InterruptedException {
    int current = outcomes.size();
    ToolOutcome notRun = new ToolOutcome.Failure(STOPPED + " It has not run.");
    outcomes.add(why instanceof QuestionCancelled ? notRun : unknownOutcome(why));
    results.stream()
        .skip(current + 1L)
        .map(outcome -> outcome instanceof ToolOutcome.Pending ? notRun : outcome)
        .forEach(outcomes::add);
    for (ToolOutcome outcome : results.subList(current, results.size())) {
      if (outcome instanceof ToolOutcome.Pending pending && pending.token() != null) {
        reject(pending);
      }
    }
  }

  private void reject(ToolOutcome.Pending pending) throws InterruptedException {
    try {
      tools.reject(pending);
    } catch (BridgeException lost) {
      // the confirmation is lost with the bridge
    }
  }

  /** The outcome of a call whose result was not awaited. */
  static ToolOutcome unknownOutcome(Exception why) {
    return new ToolOutcome.Failure(
        (why instanceof BridgeException ? why.getMessage().replaceAll("\\.$", "") + "." : STOPPED)
            + " Whether it was executed is not known.");
  }

  private ToolOutcome decide(ToolOutcome outcome) throws InterruptedException {
    if (!(outcome instanceof ToolOutcome.Pending pending)) {
      return outcome;
    }
    if (pending.token() == null) {
      return new ToolOutcome.Failure(
          "confirmation_required: another user has to approve this call, confirmation "
              + pending.id()
              + ". It has not run.");
    }
    Tool tool = new Tool(pending.server(), pending.tool());
    Approver.Decision decision = approved.contains(tool) ? Approver.Decision.YES : ask(pending);
    if (decision == Approver.Decision.NO) {
      tools.reject(pending);
      return new ToolOutcome.Failure(DECLINED);
    }
    if (decision == Approver.Decision.ALWAYS) {
      approved.add(tool);
    }
    return tools.approve(pending);
  }

  private Approver.Decision ask(ToolOutcome.Pending pending) throws InterruptedException {
    try {
      return approver.decide(pending);
    } catch (InterruptedException e) {
      throw new QuestionCancelled();
    }
  }

  /** A call without a consent has not run, so it can be repeated once the consent is given. */
  private ToolOutcome settled(FunctionCall call, ToolOutcome outcome) throws InterruptedException {
    ToolOutcome last = decide(outcome);
    while (last instanceof ToolOutcome.ConsentRequired required) {
      last =
          ask(required)
              ? decide(tools.run(List.of(call)).get(0))
              : new ToolOutcome.Failure(required.message());
    }
    return last;
  }

  private boolean ask(ToolOutcome.ConsentRequired consent) throws InterruptedException {
    try {
      return approver.requestConsent(consent);
    } catch (InterruptedException e) {
      throw new QuestionCancelled();
    }
  }

  /** Revokes the approvals of tools. */
  void clearApprovals() {
    approved.clear();
  }
}
