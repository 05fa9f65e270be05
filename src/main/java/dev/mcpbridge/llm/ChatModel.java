package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionAnswer;
import java.util.List;

/**
 * A model that can be talked to. Its methods may be called from any one thread at a time; {@link
 * #reply} blocks, and ends when its thread is interrupted.
 */
public interface ChatModel {

  /** Provider and model, as people know them. */
  String name();

  /** How it wants to be told of tools. */
  Format format();

  /** What a user says, as a message; in the shape that most APIs have for it. */
  default JsonNode user(String text) {
    return FormatAdapter.message("user", text);
  }

  /** What calls came to, as messages; in the order of the calls. */
  default List<JsonNode> results(List<FunctionAnswer> answers) {
    return FormatAdapter.results(format(), answers);
  }

  /**
   * What the model says next.
   *
   * @param modelListener learns of its words as they come, where its API tells them early
   * @throws dev.mcpbridge.error.BridgeException with a sentence for a human, after the repetitions
   *     that make sense
   */
  ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException;

  /** Listens while a model answers. */
  interface ModelListener {
    void words(String more);

    /** The request is repeated after a while. */
    default void waits(long millis, String why) {}
  }
}
