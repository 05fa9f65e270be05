package dev.mcpbridge.api;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.AgentTools;
import dev.mcpbridge.agent.ToolOutcome;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.Function;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.SchemaDialect;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tools of a caller for the loop of the agent. Not thread-safe. */
final class InProcessTools implements AgentTools {
  private final Tools tools;

  /** The calls that the agent decides, by the ids of their confirmations, until it has. */
  private final Map<String, Outcome.ConfirmationRequired> held = new HashMap<>();

  InProcessTools(Tools tools) {
    this.tools = tools;
  }

  @Override
  public JsonNode list(Format format) {
    SchemaDialect dialect = format.dialect(false);
    List<JsonSlice> definitions = new ArrayList<>();
    for (Tool tool : tools.listAndWait()) {
      Function function =
          Function.of(tool.name(), tool.description(), JsonSlice.of(tool.inputSchema()));
      definitions.add(format.definition(function, dialect.reduce(function.inputSchema())));
    }
    return Json.parsed(format.tools(definitions).text());
  }

  @Override
  public List<ToolOutcome> run(List<FunctionCall> calls) throws InterruptedException {
    List<AwaitedCall> running =
        calls.stream()
            .map(call -> tools.beginAwaited(call.name(), call.arguments().text()))
            .toList();
    List<ToolOutcome> outcomes = new ArrayList<>();
    try {
      for (AwaitedCall call : running) {
        outcomes.add(outcome(call.await()));
      }
    } catch (InterruptedException e) {
      running.forEach(AwaitedCall::cancel);
      throw e;
    }
    return outcomes;
  }

  @Override
  public ToolOutcome approve(ToolOutcome.Pending call) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("The program was interrupted before its decision was told");
    }
    AwaitedCall approved = tools.beginAwaitedDecision(held.remove(call.id()), true);
    try {
      return outcome(approved.await());
    } catch (InterruptedException e) {
      approved.cancel();
      throw e;
    }
  }

  @Override
  public void reject(ToolOutcome.Pending call) throws InterruptedException {
    tools.beginAwaitedDecision(held.remove(call.id()), false).await();
  }

  /** The confirmation that a pending call stands for. */
  Outcome.ConfirmationRequired held(ToolOutcome.Pending call) {
    return held.get(call.id());
  }

  private ToolOutcome outcome(Outcome outcome) {
    if (outcome instanceof Outcome.Completed completed) {
      return new ToolOutcome.Result(
          completed.isError(),
          ContentBlock.of(JsonObjects.members(JsonSlice.of(completed.result()))));
    }
    if (outcome instanceof Outcome.ConfirmationRequired required) {
      if (required.token() != null) {
        held.put(required.id(), required);
      }
      return new ToolOutcome.Pending(
          required.id(),
          required.token(),
          required.server(),
          required.tool(),
          Json.parsed(required.arguments()),
          "risk level " + required.riskLevel());
    }
    return new ToolOutcome.Failure(outcome.text());
  }
}
