package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.Human;
import dev.mcpbridge.agent.ToolEnd;
import dev.mcpbridge.agent.Watcher;
import dev.mcpbridge.dialect.FunctionCall;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;

/** One question of a script: the answer on one output, all else on the other, nobody to ask. */
final class Script implements Human, Watcher {
  private static final int NEEDS_CONFIRMATION = 3;

  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean json;
  private final ArrayNode calls = JsonNodeFactory.instance.arrayNode();
  private boolean needsHuman;

  Script(PrintWriter out, PrintWriter err, boolean json) {
    this.out = out;
    this.err = err;
    this.json = json;
  }

  Watcher beside(Watcher other) {
    return Watcher.both(other, this);
  }

  int run(Talk talk, String question) {
    try {
      Agent.Answer answer = talk.agent().ask(question);
      out.println(json ? json(answer) : answer.text().stripTrailing());
      out.flush();
      if (answer.how() != Agent.How.ANSWERED) {
        err.println(
            "The answer is not whole: "
                + answer.how().name().toLowerCase(Locale.ROOT).replace('_', ' '));
        return AgentProgram.FAILED;
      }
      return needsHuman ? NEEDS_CONFIRMATION : 0;
    } catch (InterruptedException e) {
      return AgentProgram.FAILED;
    }
  }

  private ObjectNode json(Agent.Answer answer) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put("answer", answer.text());
    json.put("how", answer.how().name().toLowerCase(Locale.ROOT)).put("steps", answer.steps());
    json.set("calls", calls);
    json.putObject("usage")
        .put("input", answer.usage().input())
        .put("output", answer.usage().output());
    return json;
  }

  @Override
  public Decision approves(ToolEnd.Pending call) {
    needsHuman = true;
    err.println("Not run, since nobody is here to approve it: " + Shown.plain(call.tool()));
    return Decision.NO;
  }

  @Override
  public Optional<String> logsIn(ToolEnd.Login login) {
    needsHuman = true;
    err.println(Shown.plain(login.server() + " wants you to log in: " + login.url()));
    return Optional.empty();
  }

  @Override
  public void ended(FunctionCall call, ToolEnd end) {
    ObjectNode line = calls.addObject().put("name", call.name());
    line.put("arguments", call.arguments().text());
    line.put("is_error", !(end instanceof ToolEnd.Result result) || result.isError());
  }
}
