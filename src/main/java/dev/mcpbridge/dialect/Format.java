package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The format in which a model API represents tools, tool calls and their results. */
public enum Format {
  /** OpenAI Chat Completions, also used by Ollama, vLLM and most other providers. */
  OPENAI_CHAT("openai-chat", SchemaDialect.OPENAI, new OpenAiChat()),
  /** OpenAI Responses. */
  OPENAI_RESPONSES("openai-responses", SchemaDialect.OPENAI, new OpenAiResponses()),
  /** Anthropic Messages. */
  ANTHROPIC("anthropic", SchemaDialect.ANTHROPIC, new Anthropic()),
  /** Gemini generateContent. */
  GEMINI("gemini", SchemaDialect.GEMINI, new Gemini());

  private final String id;
  private final SchemaDialect dialect;
  private final Codec codec;

  Format(String id, SchemaDialect dialect, Codec codec) {
    this.id = id;
    this.dialect = dialect;
    this.codec = codec;
  }

  /** The format-specific part of reading and writing. Stateless. */
  interface Codec {
    /** Writes one definition; {@link #list} writes the list around it. */
    void define(JsonWriter out, Function function, Reduction parameters);

    /** Builds the value of {@code tools} from definitions. */
    default JsonSlice list(List<JsonSlice> definitions) {
      JsonWriter out = new JsonWriter(4096).beginArray();
      definitions.forEach(out::value);
      return out.endArray().toSlice();
    }

    /** The items of a response that may be calls; empty if it has a different format. */
    Optional<List<JsonSlice>> items(Map<String, JsonSlice> body);

    /** Whether an object is a call in this format. */
    boolean isCall(Map<String, JsonSlice> item);

    /** Whether the API requires a result for an item; may include items that are not calls. */
    default boolean isToBeAnswered(Map<String, JsonSlice> item) {
      return isCall(item);
    }

    FunctionCall call(Map<String, JsonSlice> item);

    /** Writes the messages to append to the conversation, as elements of an open array. */
    void answer(JsonWriter out, List<FunctionResult> answers);
  }

  /** The value of the query parameter {@code format}. */
  public String id() {
    return id;
  }

  public static Optional<Format> of(String id) {
    return Stream.of(values()).filter(format -> format.id.equals(id)).findFirst();
  }

  /** The schema dialect for the parameters of functions; only OpenAI has a strict one. */
  public SchemaDialect dialect(boolean strict) {
    return strict && dialect == SchemaDialect.OPENAI ? SchemaDialect.OPENAI_STRICT : dialect;
  }

  public JsonSlice definition(Function function, Reduction parameters) {
    JsonWriter out = new JsonWriter(1024);
    codec.define(out, function, parameters);
    return out.toSlice();
  }

  /** The value of {@code tools} in a request to the model. */
  public JsonSlice tools(List<JsonSlice> definitions) {
    return codec.list(definitions);
  }

  /** The calls in a model's response, possibly none; empty if it has a different format. */
  public Optional<List<FunctionCall>> calls(JsonSlice body) {
    return items(body)
        .map(
            items ->
                items.stream()
                    .map(JsonObjects::members)
                    .filter(codec::isToBeAnswered)
                    .map(codec::call)
                    .toList());
  }

  /** The messages to append to the conversation, as a JSON array. */
  public JsonSlice messages(List<FunctionResult> answers) {
    JsonWriter out = new JsonWriter(1024).beginArray();
    if (!answers.isEmpty()) {
      codec.answer(out, answers);
    }
    return out.endArray().toSlice();
  }

  private Optional<List<JsonSlice>> items(JsonSlice body) {
    if (body.isArray()) {
      List<JsonSlice> items = JsonObjects.elements(body);
      boolean isThisFormat =
          items.isEmpty() || items.stream().map(JsonObjects::members).anyMatch(codec::isCall);
      return isThisFormat ? Optional.of(items) : Optional.empty();
    }
    Map<String, JsonSlice> members = JsonObjects.members(body);
    return codec.isCall(members) ? Optional.of(List.of(body)) : codec.items(members);
  }
}
