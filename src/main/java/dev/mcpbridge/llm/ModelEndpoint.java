package dev.mcpbridge.llm;

import java.net.URI;
import java.time.Duration;

/**
 * Where a model is, and how it is reached.
 *
 * @param base as the provider's own SDK takes it, without a slash at its end
 * @param key null where none is needed; never shown
 * @param model its name at the provider
 * @param patience how long nothing at all may come
 * @param maxTokens of one answer; 0 for the provider's own bound
 */
public record ModelEndpoint(URI base, String key, String model, Duration patience, int maxTokens) {

  public ModelEndpoint {
    base = URI.create(base.toString().replaceAll("/+$", ""));
  }

  URI at(String path) {
    return URI.create(base + path);
  }

  @Override
  public String toString() {
    return model + " at " + base;
  }
}
