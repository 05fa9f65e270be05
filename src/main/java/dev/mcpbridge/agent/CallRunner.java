package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.Part;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Runs the calls of a turn to their end: with the approvals and the logins that they need. */
final class CallRunner {
  private static final String DECLINED =
      "The user has refused this call. It has not run: do not try it again unless the user asks.";

  private final BridgeTools tools;
  private final Human human;
  private final Watcher watcher;
  private final Set<Tool> approved = new HashSet<>();

  private record Tool(String server, String name) {}

  CallRunner(BridgeTools tools, Human human, Watcher watcher) {
    this.tools = tools;
    this.human = human;
    this.watcher = watcher;
  }

  /**
   * @param ends gets what each came to, in their order; where the thread is interrupted those that
   *     are known
   */
  void run(List<FunctionCall> calls, List<ToolEnd> ends) throws InterruptedException {
    watcher.calls(calls);
    List<ToolEnd> first = new ArrayList<>(tools.run(calls));
    for (int i = 0; i < first.size(); i++) {
      ToolEnd end = loggedIn(calls.get(i), decided(first.get(i)));
      ends.add(end);
      watcher.ended(calls.get(i), end);
    }
  }

  private ToolEnd decided(ToolEnd end) throws InterruptedException {
    if (!(end instanceof ToolEnd.Pending pending)) {
      return end;
    }
    if (pending.token() == null) {
      return new ToolEnd.Failure(
          "confirmation_required: somebody else has to approve this call, confirmation "
              + pending.id()
              + ". It has not run.");
    }
    Tool tool = new Tool(pending.server(), pending.tool());
    Human.Decision decision =
        approved.contains(tool) ? Human.Decision.YES : human.approves(pending);
    if (decision == Human.Decision.NO) {
      tools.reject(pending);
      return new ToolEnd.Failure(DECLINED);
    }
    if (decision == Human.Decision.ALWAYS) {
      approved.add(tool);
    }
    return tools.approve(pending);
  }

  /** A call that was refused for want of a login has not run, so that it may be made again. */
  private ToolEnd loggedIn(FunctionCall call, ToolEnd end) throws InterruptedException {
    if (!(end instanceof ToolEnd.Result result) || result.login() == null) {
      return end;
    }
    Optional<String> credential = human.logsIn(result.login());
    if (credential.isEmpty()) {
      return new ToolEnd.Result(
          true, List.of(new Part.Text("The user has to log in first, and has not.")), null);
    }
    tools.login(result.login().server(), credential.get());
    return decided(tools.run(List.of(call)).get(0));
  }

  /** What was always approved is asked about again. */
  void forget() {
    approved.clear();
  }
}
