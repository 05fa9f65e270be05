package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionCall;
import java.util.List;

/**
 * A reply of a model.
 *
 * @param message the message to append to the conversation, in the format of the API
 * @param text the text for the user; may be empty
 * @param calls the calls to make, in parallel; may be empty
 */
public record ModelReply(
    JsonNode message, String text, List<FunctionCall> calls, End end, Usage usage) {

  /** Why the reply ended. */
  public enum End {
    DONE,
    /** The reply was cut off at its token limit. */
    CUT,
    /** The model or its provider refused to answer. */
    REFUSED
  }

  /** Token counts of the provider; 0 if it reports none. */
  public record Usage(long input, long output) {
    public static final Usage NONE = new Usage(0, 0);

    public Usage plus(Usage other) {
      return new Usage(input + other.input, output + other.output);
    }
  }
}
