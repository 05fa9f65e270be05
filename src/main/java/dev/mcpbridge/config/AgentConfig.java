package dev.mcpbridge.config;

import java.net.URI;
import java.util.Set;

/**
 * The model that the bridge offers for conversations.
 *
 * @param provider API of the model, as in the schema
 * @param model the provider's name of the model; null for the provider's default
 * @param base base URL of the API; null for the provider's own
 * @param key null if the provider needs none
 * @param timeoutMillis maximum time without any data from the model
 * @param maxTokens maximum tokens of one answer; 0 for the provider's limit
 */
public record AgentConfig(
    String provider,
    String model,
    URI base,
    Secret key,
    long timeoutMillis,
    int maxTokens,
    Turns turns) {
  /** A provider that replays a conversation, so that everything can be tried without a key. */
  public static final String REPLAY = "replay";

  /** Servers with the API of these providers at another base URL may need no key. */
  private static final Set<String> WITHOUT_KEY = Set.of("openai", "structured");

  /**
   * Who may use the model, and how much of it.
   *
   * @param atOnce maximum requests to the model at the same time
   * @param roles of which a caller needs one; empty if all callers may use it
   */
  public record Turns(int atOnce, Set<String> roles) {}

  /** Null if no provider is named. */
  static AgentConfig read(Section agent) {
    String provider = agent.text("provider");
    URI base = agent.has("baseUrl") ? HttpEntryReader.url(agent, "baseUrl") : null;
    Turns turns = new Turns(agent.integer("turns"), Set.copyOf(agent.texts("roles")));
    AgentConfig config =
        new AgentConfig(
            provider,
            agent.text("model"),
            base,
            key(agent, provider, base != null),
            agent.seconds("timeout"),
            agent.integer("maxTokens"),
            turns);
    boolean isMeant = agent.has("key") || agent.has("model") || agent.has("baseUrl");
    if (provider == null && isMeant) {
      agent.report("provider", "is required for a model");
    }
    return provider == null ? null : config;
  }

  private static Secret key(Section agent, String provider, boolean hasBase) {
    String key = agent.text("key", "").strip();
    if (key.isEmpty() && provider != null && needsKey(provider, hasBase)) {
      agent.report("key", "the provider needs one, such as \"${env:OPENAI_API_KEY}\"");
    }
    if (!isKey(key)) {
      agent.report("key", "contains a character that is invalid in an HTTP header");
    }
    return key.isEmpty() ? null : new Secret(key);
  }

  /**
   * Whether a provider needs a key.
   *
   * @param hasBase whether another base URL than the provider's own is used
   */
  public static boolean needsKey(String provider, boolean hasBase) {
    return !provider.equals(REPLAY) && !(hasBase && WITHOUT_KEY.contains(provider));
  }

  /** Whether a text can be sent as a key, in the value of a header. */
  public static boolean isKey(String text) {
    return text.chars().allMatch(c -> c > 0x20 && c < 0x7F);
  }
}
