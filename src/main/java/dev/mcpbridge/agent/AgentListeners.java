package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import java.util.List;

record AgentListeners(AgentListener first, AgentListener second) implements AgentListener {
  @Override
  public void onQuestion(String question) {
    first.onQuestion(question);
    second.onQuestion(question);
  }

  @Override
  public void onStep(int step) {
    first.onStep(step);
    second.onStep(step);
  }

  @Override
  public void onRetry(long millis, String why) {
    first.onRetry(millis, why);
    second.onRetry(millis, why);
  }

  @Override
  public void onText(String text) {
    first.onText(text);
    second.onText(text);
  }

  @Override
  public void onReply(ModelReply modelReply) {
    first.onReply(modelReply);
    second.onReply(modelReply);
  }

  @Override
  public void onCalls(List<FunctionCall> calls) {
    first.onCalls(calls);
    second.onCalls(calls);
  }

  @Override
  public void onOutcome(FunctionCall call, ToolOutcome outcome) {
    first.onOutcome(call, outcome);
    second.onOutcome(call, outcome);
  }
}
