package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;

/** The four kinds of models, each with what its provider's API answers. */
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
   * Answers as the documentation of the API shows them, in the pieces in which they are sent: an
   * event each, or one that is the whole. They count 11 tokens of input and 7 of output.
   */
  interface Answers {
    List<String> text(List<String> words);

    /** Words, where there are any, and then calls. */
    List<String> calls(String words, List<Call> calls);

    List<String> refused();

    /** Ended by the bound of tokens, behind these words. */
    List<String> cut(String words);

    /** The same within a call of {@code f}. */
    List<String> cutWithinCall();

    List<String> empty();

    /** Between events: that it failed. */
    String failure(String sentence);

    /** The body beside a status that is not 200. */
    String error(int status, String sentence);

    default boolean isStream() {
      return true;
    }
  }

  static String quoted(String text) {
    return TextNode.valueOf(text).toString();
  }

  /** A text in pieces of three characters. */
  static List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    for (int i = 0; i < text.length(); i += 3) {
      pieces.add(text.substring(i, Math.min(text.length(), i + 3)));
    }
    return pieces;
  }
}
