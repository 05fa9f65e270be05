package dev.mcpbridge.llm;

import java.net.URI;
import java.util.function.Function;

/** Whose API is spoken, with what its own SDK takes for granted. */
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
  private final Function<ModelEndpoint, ChatModel> opening;

  Provider(
      String model, String base, String keyVariable, Function<ModelEndpoint, ChatModel> opening) {
    this.model = model;
    this.base = URI.create(base);
    this.keyVariable = keyVariable;
    this.opening = opening;
  }

  /** Where nobody names one. */
  public String defaultModel() {
    return model;
  }

  public URI defaultBase() {
    return base;
  }

  /** The variable of the environment in which its own SDK looks for a key. */
  public String keyVariable() {
    return keyVariable;
  }

  /** Whether something without a key may be behind another base than the provider's own. */
  public boolean mayBeWithoutKey() {
    return this == OPENAI || this == STRUCTURED;
  }

  public ChatModel at(ModelEndpoint modelEndpoint) {
    return opening.apply(modelEndpoint);
  }
}
