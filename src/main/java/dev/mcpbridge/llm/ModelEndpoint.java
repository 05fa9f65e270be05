package dev.mcpbridge.llm;

import java.net.URI;
import java.time.Duration;

/**
 * The endpoint of a model.
 *
 * @param base the base URL as in the provider's SDK; trailing slashes are removed
 * @param key the API key, never shown; null if none is needed
 * @param model the provider's name of the model
 * @param timeout maximum time without any data from the model
 * @param maxTokens maximum tokens of one answer; 0 for the provider's limit
 */
public record ModelEndpoint(URI base, String key, String model, Duration timeout, int maxTokens) {

  public ModelEndpoint {
    base = URI.create(base.toString().replaceAll("/+$", ""));
  }

  URI resolve(String path) {
    return URI.create(base + path);
  }

  @Override
  public String toString() {
    return model + " at " + base;
  }
}
