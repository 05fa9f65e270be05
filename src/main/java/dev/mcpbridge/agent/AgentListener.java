package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import java.util.List;

/** Events of an agent. Called on the thread of {@link Agent#ask}. */
public interface AgentListener {
  /** A question was asked. */
  default void onQuestion(String question) {}

  /** The model is requested. Steps are counted from 1 for each question. */
  default void onStep(int step) {}

  /** The request to the model is retried after a delay. */
  default void onRetry(long millis, String why) {}

  /** The next part of a streamed reply. */
  default void onText(String text) {}

  /** The reply is complete. */
  default void onReply(ModelReply modelReply) {}

  /** These calls are sent to the bridge. */
  default void onCalls(List<FunctionCall> calls) {}

  /** A call has ended. */
  default void onOutcome(FunctionCall call, ToolOutcome outcome) {}
}
