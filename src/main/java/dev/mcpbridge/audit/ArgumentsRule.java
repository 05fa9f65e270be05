package dev.mcpbridge.audit;

import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.JsonWriter;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a record has of the arguments of a call. A digest is keyed (HMAC-SHA-256, RFC 2104), since
 * short arguments could be guessed from a plain one. Confined to the thread of the log.
 */
final class ArgumentsRule {
  private static final int MAX_WHOLE = 64 << 10;
  private static final int MAX_LEVELS = 900;

  private final AuditConfig.Content content;
  private final Mac mac;

  ArgumentsRule(AuditConfig.Content content, byte[] key) throws GeneralSecurityException {
    this.content = content;
    this.mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
  }

  void write(JsonWriter out, JsonSlice arguments) {
    if (arguments == null || content == AuditConfig.Content.NONE) {
      return;
    }
    out.hex("arguments_digest", "hmac-sha256:", digest(arguments));
    out.member("arguments_bytes", arguments.length());
    if (content == AuditConfig.Content.FULL && isReadable(arguments)) {
      out.member("arguments", arguments);
    }
  }

  /** Whether a line with these arguments can be read again by all that read trails. */
  private static boolean isReadable(JsonSlice arguments) {
    if (arguments.length() > MAX_WHOLE) {
      return false;
    }
    try {
      JsonScanner.transit(MAX_LEVELS).document(arguments.bytes(), arguments.from(), arguments.to());
      return true;
    } catch (JsonSyntaxException e) {
      return false;
    }
  }

  private byte[] digest(JsonSlice arguments) {
    mac.update(arguments.bytes(), arguments.from(), arguments.length());
    return mac.doFinal();
  }
}
