package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;

/** The four kinds of models, each with recorded responses of its provider's API. */
enum Recorded {
  OPENAI(Provider.OPENAI, "/v1", "/v1/chat/completions", new RecordedOpenAi()),
  ANTHROPIC(Provider.ANTHROPIC, "", "/v1/messages", new RecordedAnthropic()),
  GEMINI(Provider.GEMINI, "", "/v1beta/models/a-model:streamGenerateContent", new RecordedGemini()),
  STRUCTURED(Provider.STRUCTURED, "/v1", "/v1/chat/completions", new RecordedStructured());

  final Provider provider;
  final String base;
  final String path;
  final Answers answers;

  Recorded(Provider provider, String base, String path, Answers answers) {
    this.provider = provider;
    this.base = base;
    this.path = path;
    this.answers = answers;
  }

  /** A call of a function, with its arguments as the model writes them. */
  record Call(String id, String name, String arguments) {}

  /**
   * Responses as in the documentation of the API, as a list of events or as a single complete body.
   * Each reports 11 input tokens and 7 output tokens.
   */
  interface Answers {
    List<String> text(List<String> words);

    /** Text, unless it is empty, followed by calls. */
    List<String> calls(String words, List<Call> calls);

    List<String> refused();

    /** A response that ends at the token limit after this text. */
    List<String> cut(String words);

    /** A response that ends at the token limit within a call of {@code f}. */
    List<String> cutWithinCall();

    List<String> empty();

    /** An error event within a stream. */
    String failure(String sentence);

    /** The body of an error response. */
    String error(int status, String sentence);

    default boolean isStream() {
      return true;
    }
  }

  /** JSON with apostrophes in place of quotation marks, and with these values. */
  static String json(String text, Object... values) {
    return text.replace('\'', '"').formatted(values);
  }

  /** A text as JSON; null for null. */
  static String quoted(String text) {
    return String.valueOf(TextNode.valueOf(text));
  }

  /** Splits a text into pieces of three characters. */
  static List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    for (int i = 0; i < text.length(); i += 3) {
      pieces.add(text.substring(i, Math.min(text.length(), i + 3)));
    }
    return pieces;
  }
}
