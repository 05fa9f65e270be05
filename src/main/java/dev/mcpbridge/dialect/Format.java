package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** How one API of models writes tools, the model's calls, and the answers to them. */
public enum Format {
  /** Chat Completions, as OpenAI, Ollama, vLLM and most others have it. */
  OPENAI_CHAT("openai-chat", new OpenAiChat()),
  /** Responses. */
  OPENAI_RESPONSES("openai-responses", new OpenAiResponses()),
  /** Messages. */
  ANTHROPIC("anthropic", new Anthropic()),
  /** generateContent. */
  GEMINI("gemini", new Gemini());

  private final String word;
  private final Writing writing;

  Format(String word, Writing writing) {
    this.word = word;
    this.writing = writing;
  }

  /** What each format has its own way to write. Stateless. */
  interface Writing {
    SchemaDialect dialect(boolean strict);

    /** One definition; the list around it is {@link #list}'s. */
    void define(JsonWriter out, Function function, Reduction parameters);

    /** The value of {@code tools}, given the definitions. */
    default JsonSlice list(List<JsonSlice> definitions) {
      JsonWriter out = new JsonWriter(4096).beginArray();
      definitions.forEach(out::value);
      return out.endArray().toSlice();
    }

    /** The items that may be calls, out of what the model's API answered; empty if it is none. */
    Optional<List<JsonSlice>> items(Map<String, JsonSlice> body);

    /** Whether a single object is one of its calls. */
    boolean isCall(Map<String, JsonSlice> item);

    /** Whether an item beside calls has to be answered like one. */
    default boolean isToBeAnswered(Map<String, JsonSlice> item) {
      return isCall(item);
    }

    FunctionCall call(Map<String, JsonSlice> item);

    /** What is to be appended to the conversation, as values of an open array. */
    void answer(JsonWriter out, List<FunctionAnswer> answers);
  }

  /** The word for it in a query. */
  public String word() {
    return word;
  }

  public static Optional<Format> of(String word) {
    return Stream.of(values()).filter(format -> format.word.equals(word)).findFirst();
  }

  /** The dialect in which its functions' parameters are written. */
  public SchemaDialect dialect(boolean strict) {
    return writing.dialect(strict);
  }

  public JsonSlice definition(Function function, Reduction parameters) {
    JsonWriter out = new JsonWriter(1024);
    writing.define(out, function, parameters);
    return out.toSlice();
  }

  /** The value of {@code tools} in a request to the model. */
  public JsonSlice tools(List<JsonSlice> definitions) {
    return writing.list(definitions);
  }

  /** The calls in what a model answered; none where it only talks; empty for another format. */
  public Optional<List<FunctionCall>> calls(JsonSlice body) {
    return items(body)
        .map(
            items ->
                items.stream()
                    .map(JsonObjects::members)
                    .filter(writing::isToBeAnswered)
                    .map(writing::call)
                    .toList());
  }

  /** The messages to append, a JSON array. */
  public JsonSlice messages(List<FunctionAnswer> answers) {
    JsonWriter out = new JsonWriter(1024).beginArray();
    if (!answers.isEmpty()) {
      writing.answer(out, answers);
    }
    return out.endArray().toSlice();
  }

  private Optional<List<JsonSlice>> items(JsonSlice body) {
    if (body.isArray()) {
      List<JsonSlice> items = JsonObjects.elements(body);
      boolean isMine =
          items.isEmpty() || items.stream().map(JsonObjects::members).anyMatch(writing::isCall);
      return isMine ? Optional.of(items) : Optional.empty();
    }
    Map<String, JsonSlice> members = JsonObjects.members(body);
    return writing.isCall(members) ? Optional.of(List.of(body)) : writing.items(members);
  }
}
