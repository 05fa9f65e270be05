package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import java.util.List;

record AgentListeners(AgentListener first, AgentListener second) implements AgentListener {
  @Override
  public void asked(String question) {
    first.asked(question);
    second.asked(question);
  }

  @Override
  public void thinks(int step) {
    first.thinks(step);
    second.thinks(step);
  }

  @Override
  public void waits(long millis, String why) {
    first.waits(millis, why);
    second.waits(millis, why);
  }

  @Override
  public void says(String text) {
    first.says(text);
    second.says(text);
  }

  @Override
  public void said(ModelReply modelReply) {
    first.said(modelReply);
    second.said(modelReply);
  }

  @Override
  public void calls(List<FunctionCall> calls) {
    first.calls(calls);
    second.calls(calls);
  }

  @Override
  public void ended(FunctionCall call, ToolOutcome outcome) {
    first.ended(call, outcome);
    second.ended(call, outcome);
  }
}
