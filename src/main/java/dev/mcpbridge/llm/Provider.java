package dev.mcpbridge.llm;

import java.net.URI;
import java.util.function.Function;

/** The APIs of providers, with the defaults of their SDKs. */
public enum Provider {
  GEMINI(
      "gemini-2.5-flash",
      "https://generativelanguage.googleapis.com",
      "GEMINI_API_KEY",
      GeminiModel::new),
  OPENAI("gpt-5-mini", "https://api.openai.com/v1", "OPENAI_API_KEY", OpenAiModel::new),
  ANTHROPIC(
      "claude-sonnet-4-5", "https://api.anthropic.com", "ANTHROPIC_API_KEY", AnthropicModel::new),
  STRUCTURED("gpt-5-mini", "https://api.openai.com/v1", "OPENAI_API_KEY", StructuredModel::new);

  private final String model;
  private final URI base;
  private final String keyVariable;
  private final Function<ModelEndpoint, ChatModel> factory;

  Provider(
      String model, String base, String keyVariable, Function<ModelEndpoint, ChatModel> factory) {
    this.model = model;
    this.base = URI.create(base);
    this.keyVariable = keyVariable;
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

  /** Whether servers at another base URL than the provider's may need no key. */
  public boolean mayBeWithoutKey() {
    return this == OPENAI || this == STRUCTURED;
  }

  public ChatModel at(ModelEndpoint modelEndpoint) {
    return factory.apply(modelEndpoint);
  }
}
