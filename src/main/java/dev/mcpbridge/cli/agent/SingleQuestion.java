package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.AgentListener;
import dev.mcpbridge.agent.Approver;
import dev.mcpbridge.agent.ToolOutcome;
import dev.mcpbridge.dialect.FunctionCall;
import java.io.PrintWriter;
import java.util.Locale;

/** A single question from a script. No user can be asked, so calls that need one are rejected. */
final class SingleQuestion implements Approver, AgentListener {
  private static final int NEEDS_CONFIRMATION = 3;

  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean json;
  private final ArrayNode calls = JsonNodeFactory.instance.arrayNode();
  private boolean needsHuman;

  SingleQuestion(PrintWriter out, PrintWriter err, boolean json) {
    this.out = out;
    this.err = err;
    this.json = json;
  }

  int run(Agent agent, String question) {
    try {
      Agent.Answer answer = agent.ask(question);
      out.println(json ? json(answer) : answer.text().stripTrailing());
      out.flush();
      if (answer.outcome() != Agent.Outcome.ANSWERED) {
        err.println(
            "The answer is incomplete: "
                + answer.outcome().name().toLowerCase(Locale.ROOT).replace('_', ' '));
        return AgentProgram.FAILED;
      }
      return needsHuman ? NEEDS_CONFIRMATION : 0;
    } catch (InterruptedException e) {
      return AgentProgram.FAILED;
    }
  }

  private ObjectNode json(Agent.Answer answer) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put("answer", answer.text());
    json.put("how", answer.outcome().name().toLowerCase(Locale.ROOT)).put("steps", answer.steps());
    json.set("calls", calls);
    json.putObject("usage")
        .put("input", answer.usage().input())
        .put("output", answer.usage().output());
    return json;
  }

  @Override
  public Decision decide(ToolOutcome.Pending call) {
    needsHuman = true;
    err.println("Not run, because it needs an approval: " + TerminalText.escape(call.tool()));
    return Decision.NO;
  }

  @Override
  public boolean requestConsent(ToolOutcome.ConsentRequired consent) {
    needsHuman = true;
    err.println(
        TerminalText.escape(consent.server() + " needs your consent, at: " + consent.url()));
    return false;
  }

  @Override
  public void onOutcome(FunctionCall call, ToolOutcome end) {
    ObjectNode line = calls.addObject().put("name", call.name());
    line.put("arguments", call.arguments().text());
    line.put("is_error", !(end instanceof ToolOutcome.Result result) || result.isError());
  }
}
