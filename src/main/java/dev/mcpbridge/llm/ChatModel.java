package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionResult;
import java.util.List;

/**
 * A chat model. Its methods may be called from any thread, but only one at a time. {@link #reply}
 * blocks and can be interrupted.
 */
public interface ChatModel {

  /** Display name of the model and its provider. */
  String name();

  /** The name by which its provider knows the model. */
  String model();

  /** The format of its tool definitions and calls. */
  Format format();

  /** A user message; by default in the format that most APIs use. */
  default JsonNode userMessage(String text) {
    return FormatAdapter.message("user", text);
  }

  /** The results of calls as messages, in the order of the calls. */
  default List<JsonNode> resultMessages(List<FunctionResult> answers) {
    return FormatAdapter.results(format(), answers);
  }

  /**
   * Requests the next reply of the model.
   *
   * @param modelListener receives the text as it arrives if the API streams it
   * @throws dev.mcpbridge.error.BridgeException with a message for people, after all retries
   */
  ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException;

  /** Events of a request to a model, on the thread of {@link #reply}. */
  interface ModelListener {
    /** The next part of the text. */
    void onText(String text);

    /** The request failed and is retried after a delay. */
    default void onRetry(long millis, String why) {}
  }
}
