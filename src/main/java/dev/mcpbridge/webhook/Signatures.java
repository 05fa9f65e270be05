package dev.mcpbridge.webhook;

import dev.mcpbridge.config.WebhookConfig.SigningKey;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The signatures of a message (Standard Webhooks, "Signature scheme"): HMAC-SHA256 over its id, the
 * time of the attempt and its body. Stateless.
 */
final class Signatures {
  private Signatures() {}

  /**
   * The value of the header {@code webhook-signature}: one signature for each key.
   *
   * @param timestamp seconds since 1970
   */
  static String of(List<SigningKey> keys, String id, long timestamp, byte[] body) {
    byte[] head = (id + '.' + timestamp + '.').getBytes(StandardCharsets.UTF_8);
    return keys.stream()
        .map(key -> "v1," + signature(key, head, body))
        .collect(Collectors.joining(" "));
  }

  private static String signature(SigningKey key, byte[] head, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key.bytes(), "HmacSHA256"));
      mac.update(head);
      return Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }
}
