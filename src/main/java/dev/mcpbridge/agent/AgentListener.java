package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import java.util.List;

/** Learns what happens, as it happens, on the thread of {@link Agent#ask}. */
public interface AgentListener {
  default void asked(String question) {}

  /** The model is asked, for the how-manieth time since the question. */
  default void thinks(int step) {}

  /** The model is asked again after a while. */
  default void waits(long millis, String why) {}

  default void says(String words) {}

  default void said(ModelReply modelReply) {}

  default void calls(List<FunctionCall> calls) {}

  default void ended(FunctionCall call, ToolOutcome end) {}

  /** One that passes everything on. */
  static AgentListener both(AgentListener one, AgentListener other) {
    return new AgentListeners(one, other);
  }
}
