package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import java.util.List;

record AgentListeners(AgentListener one, AgentListener other) implements AgentListener {
  @Override
  public void asked(String question) {
    one.asked(question);
    other.asked(question);
  }

  @Override
  public void thinks(int step) {
    one.thinks(step);
    other.thinks(step);
  }

  @Override
  public void waits(long millis, String why) {
    one.waits(millis, why);
    other.waits(millis, why);
  }

  @Override
  public void says(String words) {
    one.says(words);
    other.says(words);
  }

  @Override
  public void said(ModelReply modelReply) {
    one.said(modelReply);
    other.said(modelReply);
  }

  @Override
  public void calls(List<FunctionCall> calls) {
    one.calls(calls);
    other.calls(calls);
  }

  @Override
  public void ended(FunctionCall call, ToolOutcome end) {
    one.ended(call, end);
    other.ended(call, end);
  }
}
