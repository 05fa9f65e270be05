package dev.mcpbridge.cluster.link;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How two nodes find out that they belong together: each says who it is with a random number, and
 * each proves with both numbers that it knows the secret (HMAC-SHA-256, RFC 2104), in its own role,
 * so that no proof can be sent back to whom it came from.
 */
final class Greeting {
  private static final String MAGIC = "mcp-bridge";
  private static final int RANDOM_BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Greeting() {}

  /**
   * Who a node says that it is.
   *
   * @param oldest protocol that it speaks
   * @param newest protocol that it speaks
   * @param members all addresses of the cluster as it knows them, in their order
   */
  record Hello(
      int oldest,
      int newest,
      String cluster,
      String members,
      int slot,
      String node,
      String version,
      long incarnation,
      byte[] random) {

    static Hello of(Identity self) {
      byte[] random = new byte[RANDOM_BYTES];
      RANDOM.nextBytes(random);
      return new Hello(
          Links.OLDEST_PROTOCOL,
          Links.PROTOCOL,
          self.cluster(),
          String.join(",", self.members()),
          self.slot(),
          self.node(),
          self.version(),
          self.incarnation(),
          random);
    }

    byte[] toBytes() {
      return new WireWriter()
          .text(MAGIC)
          .number(oldest)
          .number(newest)
          .text(cluster)
          .text(members)
          .number(slot)
          .text(node)
          .text(version)
          .number(incarnation)
          .bytes(random)
          .toBytes();
    }

    static Hello of(byte[] bytes) {
      WireReader in = new WireReader(bytes);
      if (!in.text().equals(MAGIC)) {
        throw new IllegalArgumentException("not a node of a bridge");
      }
      Hello hello =
          new Hello(
              (int) in.number(),
              (int) in.number(),
              in.text(),
              in.text(),
              (int) in.number(),
              in.text(),
              in.text(),
              in.number(),
              in.bytes());
      if (hello.random.length != RANDOM_BYTES) {
        throw new IllegalArgumentException("a greeting without its random number");
      }
      return hello;
    }

    /** Why two nodes do not belong together; null where they do. */
    String objection(Hello other) {
      if (other.newest < oldest || newest < other.oldest) {
        return "it speaks versions %d to %d of the protocol, and this node %d to %d"
            .formatted(other.oldest, other.newest, oldest, newest);
      }
      if (!cluster.equals(other.cluster)) {
        return "its cluster.name is \"%s\", and here it is \"%s\""
            .formatted(other.cluster, cluster);
      }
      if (!members.equals(other.members)) {
        return "its cluster.members are %s, and here they are %s".formatted(other.members, members);
      }
      return slot == other.slot ? "it says that it is this very node, " + node : null;
    }
  }

  /**
   * @param dialler who began; its proof differs from that of the other one
   */
  static byte[] proof(byte[] key, boolean dialler, Hello first, Hello second) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update((byte) (dialler ? 1 : 2));
      mac.update(first.toBytes());
      return mac.doFinal(second.toBytes());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HMAC-SHA-256", e);
    }
  }

  static boolean isSame(byte[] proof, byte[] expected) {
    return MessageDigest.isEqual(proof, expected);
  }

  /** A key of the right length from a secret of any. */
  static byte[] key(String secret) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return digest.digest(("mcp-bridge cluster\n" + secret).getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
