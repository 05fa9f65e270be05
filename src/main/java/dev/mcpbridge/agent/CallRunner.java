package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Runs the calls of a turn to their end: with the approvals and the logins that they need. */
final class CallRunner {
  private static final String DECLINED =
      "The user has refused this call. It has not run: do not try it again unless the user asks.";
  private static final String STOPPED = "The user has stopped this.";

  private final BridgeTools tools;
  private final Approver approver;
  private final AgentListener agentListener;
  private final Set<Tool> approved = new HashSet<>();

  private record Tool(String server, String name) {}

  /** The user has left a question open: what it was about has not run. */
  private static final class Undecided extends InterruptedException {
    private static final long serialVersionUID = 1L;
  }

  CallRunner(BridgeTools tools, Approver approver, AgentListener agentListener) {
    this.tools = tools;
    this.approver = approver;
    this.agentListener = agentListener;
  }

  /**
   * @param ends gets what each came to, in their order; where the thread is interrupted or the
   *     bridge is lost before there is anything to say of any, it stays empty
   */
  void run(List<FunctionCall> calls, List<ToolOutcome> ends) throws InterruptedException {
    agentListener.calls(calls);
    List<ToolOutcome> first = tools.run(calls);
    try {
      for (int i = 0; i < first.size(); i++) {
        ToolOutcome end = loggedIn(calls.get(i), decided(first.get(i)));
        ends.add(end);
        agentListener.ended(calls.get(i), end);
      }
    } catch (BridgeException | InterruptedException e) {
      giveUp(first, ends, e);
      throw e;
    }
  }

  /** What is known of the others stays known, and what waits for an approval waits no longer. */
  private void giveUp(List<ToolOutcome> first, List<ToolOutcome> ends, Exception why)
      throws InterruptedException {
    int open = ends.size();
    ToolOutcome notRun = new ToolOutcome.Failure(STOPPED + " It has not run.");
    ends.add(why instanceof Undecided ? notRun : unknown(why));
    first.stream()
        .skip(open + 1L)
        .map(end -> end instanceof ToolOutcome.Pending ? notRun : end)
        .forEach(ends::add);
    for (ToolOutcome end : first.subList(open, first.size())) {
      if (end instanceof ToolOutcome.Pending pending && pending.token() != null) {
        reject(pending);
      }
    }
  }

  private void reject(ToolOutcome.Pending pending) throws InterruptedException {
    try {
      tools.reject(pending);
    } catch (BridgeException lost) {
      // with the bridge the confirmation is gone
    }
  }

  /** Of a call whose end was not waited for. */
  static ToolOutcome unknown(Exception why) {
    return new ToolOutcome.Failure(
        (why instanceof BridgeException ? why.getMessage().replaceAll("\\.$", "") + "." : STOPPED)
            + " Whether it was executed is not known.");
  }

  private ToolOutcome decided(ToolOutcome end) throws InterruptedException {
    if (!(end instanceof ToolOutcome.Pending pending)) {
      return end;
    }
    if (pending.token() == null) {
      return new ToolOutcome.Failure(
          "confirmation_required: somebody else has to approve this call, confirmation "
              + pending.id()
              + ". It has not run.");
    }
    Tool tool = new Tool(pending.server(), pending.tool());
    Approver.Decision decision = approved.contains(tool) ? Approver.Decision.YES : asked(pending);
    if (decision == Approver.Decision.NO) {
      tools.reject(pending);
      return new ToolOutcome.Failure(DECLINED);
    }
    if (decision == Approver.Decision.ALWAYS) {
      approved.add(tool);
    }
    return tools.approve(pending);
  }

  private Approver.Decision asked(ToolOutcome.Pending pending) throws InterruptedException {
    try {
      return approver.approves(pending);
    } catch (InterruptedException e) {
      throw new Undecided();
    }
  }

  private Optional<String> asked(ToolOutcome.Login login) throws InterruptedException {
    try {
      return approver.logsIn(login);
    } catch (InterruptedException e) {
      throw new Undecided();
    }
  }

  /** A call that was refused for want of a login has not run, so that it may be made again. */
  private ToolOutcome loggedIn(FunctionCall call, ToolOutcome end) throws InterruptedException {
    if (!(end instanceof ToolOutcome.Result result) || result.login() == null) {
      return end;
    }
    Optional<String> credential = asked(result.login());
    if (credential.isEmpty()) {
      return new ToolOutcome.Result(
          true, List.of(new ContentBlock.Text("The user has to log in first, and has not.")), null);
    }
    tools.login(result.login().server(), credential.get());
    return decided(tools.run(List.of(call)).get(0));
  }

  /** What was always approved is asked about again. */
  void forget() {
    approved.clear();
  }
}
