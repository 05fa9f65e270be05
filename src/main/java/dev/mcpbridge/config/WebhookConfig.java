package dev.mcpbridge.config;

import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A receiver of notices.
 *
 * @param url where they are sent
 * @param secrets keys of the signatures; each notice is signed with all of them
 * @param events names of the events that are sent
 * @param withArguments whether a notice about a call has its arguments
 * @param headers of each request
 */
public record WebhookConfig(
    URI url,
    List<SigningKey> secrets,
    Set<String> events,
    boolean withArguments,
    Map<String, Secret> headers) {
  private static final String PREFIX = "whsec_";

  /** Lengths of a key, in bytes, as Standard Webhooks demands. */
  private static final int MIN_KEY = 24;

  private static final int MAX_KEY = 64;

  /** A key of HMAC-SHA256, which is not printed. */
  public record SigningKey(byte[] bytes) {
    @Override
    public String toString() {
      return "***";
    }
  }

  /** The only part of the URL that may be logged. */
  public String host() {
    return url.getHost();
  }

  static List<WebhookConfig> read(Section root, List<ConfigProblem> warnings) {
    List<WebhookConfig> webhooks = new ArrayList<>();
    for (Section webhook : root.sections("webhooks")) {
      URI url = HttpEntryReader.url(webhook, "url");
      if (url != null
          && url.getScheme().equals("http")
          && !ClusterReader.isLoopbackHost(url.getHost())) {
        warnings.add(
            new ConfigProblem(
                webhook.pathOf("url"), "notices are readable on their way: use https"));
      }
      webhooks.add(
          new WebhookConfig(
              url,
              keys(webhook),
              Set.copyOf(webhook.texts("events")),
              webhook.flag("arguments"),
              webhook.headers("headers")));
    }
    return webhooks;
  }

  private static List<SigningKey> keys(Section webhook) {
    List<SigningKey> keys = new ArrayList<>();
    List<String> secrets = webhook.texts("secrets");
    for (int i = 0; i < secrets.size(); i++) {
      byte[] key = key(secrets.get(i));
      if (key.length < MIN_KEY || key.length > MAX_KEY) {
        webhook.report(
            "secrets[" + i + "]",
            "expected \"" + PREFIX + "\" and 24 to 64 random bytes in base64");
      }
      keys.add(new SigningKey(key));
    }
    return keys;
  }

  private static byte[] key(String secret) {
    try {
      return secret.startsWith(PREFIX)
          ? Base64.getDecoder().decode(secret.substring(PREFIX.length()))
          : new byte[0];
    } catch (IllegalArgumentException e) {
      return new byte[0];
    }
  }
}
