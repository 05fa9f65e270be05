package dev.mcpbridge.llm;

import dev.mcpbridge.dialect.Format;
import java.net.URI;
import java.time.Duration;
import java.util.function.Function;

/** The APIs of providers, with the defaults of their SDKs. */
public enum Provider {
  GEMINI(
      "gemini-2.5-flash",
      "https://generativelanguage.googleapis.com",
      "GEMINI_API_KEY",
      Format.GEMINI,
      GeminiModel::new),
  OPENAI(
      "gpt-5-mini",
      "https://api.openai.com/v1",
      "OPENAI_API_KEY",
      Format.OPENAI_CHAT,
      OpenAiModel::new),
  ANTHROPIC(
      "claude-sonnet-4-5",
      "https://api.anthropic.com",
      "ANTHROPIC_API_KEY",
      Format.ANTHROPIC,
      AnthropicModel::new),
  STRUCTURED(
      "gpt-5-mini",
      "https://api.openai.com/v1",
      "OPENAI_API_KEY",
      Format.OPENAI_CHAT,
      StructuredModel::new);

  private final String model;
  private final URI base;
  private final String keyVariable;
  private final Format format;
  private final Function<ModelEndpoint, ChatModel> factory;

  Provider(
      String model,
      String base,
      String keyVariable,
      Format format,
      Function<ModelEndpoint, ChatModel> factory) {
    this.model = model;
    this.base = URI.create(base);
    this.keyVariable = keyVariable;
    this.format = format;
    this.factory = factory;
  }

  /** The model if none is named. */
  public String defaultModel() {
    return model;
  }

  public URI defaultBase() {
    return base;
  }

  /** The environment variable from which the provider's SDK reads the key. */
  public String keyVariable() {
    return keyVariable;
  }

  /** The format of its messages and tool definitions. */
  public Format format() {
    return format;
  }

  /**
   * Opens a model.
   *
   * @param base base URL of the API; null for the provider's own
   * @param key null if none is needed
   * @param name the provider's name of the model; null for its default
   * @param timeout maximum time without any data from the model
   * @param maxTokens maximum tokens of one answer; 0 for the provider's limit
   */
  public ChatModel open(URI base, String key, String name, Duration timeout, int maxTokens) {
    return at(
        new ModelEndpoint(
            base == null ? defaultBase() : base,
            key,
            name == null ? defaultModel() : name,
            timeout,
            maxTokens));
  }

  public ChatModel at(ModelEndpoint modelEndpoint) {
    return factory.apply(modelEndpoint);
  }
}
