package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.Reply;
import java.util.List;

record Watchers(Watcher one, Watcher other) implements Watcher {
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
  public void said(Reply reply) {
    one.said(reply);
    other.said(reply);
  }

  @Override
  public void calls(List<FunctionCall> calls) {
    one.calls(calls);
    other.calls(calls);
  }

  @Override
  public void ended(FunctionCall call, ToolEnd end) {
    one.ended(call, end);
    other.ended(call, end);
  }
}
