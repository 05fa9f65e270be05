package dev.mcpbridge.api;

import dev.mcpbridge.config.AgentConfig;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.Provider;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

/**
 * A chat model that is reached over HTTP. Immutable.
 *
 * @param api the API that it offers
 * @param url base URL, as in the SDK of the provider; null for that of the provider
 * @param key null if none is needed
 * @param name the provider's name of the model; null for its default
 */
public record Model(Api api, URI url, String key, String name) {
  private static final Duration SILENCE = Duration.ofSeconds(120);

  /** The APIs of models. */
  public enum Api {
    /** Chat Completions of OpenAI, and of many others. */
    OPENAI,
    ANTHROPIC,
    GEMINI,
    /** Chat Completions of a model without tool calling. */
    STRUCTURED
  }

  /**
   * @throws IllegalArgumentException if the key has characters that no header field may have, or is
   *     missing for a provider that needs one
   */
  public Model {
    Objects.requireNonNull(api, "api");
    boolean isMissing =
        key == null && AgentConfig.needsKey(api.name().toLowerCase(Locale.ROOT), url != null);
    if (isMissing || key != null && !AgentConfig.isKey(key)) {
      throw new IllegalArgumentException("The API key is missing or has invalid characters");
    }
  }

  ChatModel open() {
    return Provider.valueOf(api.name()).open(url, key, name, SILENCE, 0);
  }

  /** Without the key, which is secret. */
  @Override
  public String toString() {
    return "Model[api=" + api + ", url=" + url + ", name=" + name + "]";
  }
}
