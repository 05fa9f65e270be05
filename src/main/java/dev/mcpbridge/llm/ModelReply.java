package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionCall;
import java.util.List;

/**
 * What a model said.
 *
 * @param message to be appended to the conversation, as its API wants it back
 * @param text its words to the user; empty where it has none
 * @param calls what it wants to be called, all at once
 */
public record ModelReply(
    JsonNode message, String text, List<FunctionCall> calls, End end, Usage usage) {

  /** Why it said no more. */
  public enum End {
    DONE,
    /** Its answer was longer than it may be. */
    CUT,
    /** It, or its provider, would not answer. */
    REFUSED
  }

  /** Tokens, as the provider counts them; zero where it does not say. */
  public record Usage(long input, long output) {
    public static final Usage NONE = new Usage(0, 0);

    public Usage plus(Usage more) {
      return new Usage(input + more.input, output + more.output);
    }
  }
}
