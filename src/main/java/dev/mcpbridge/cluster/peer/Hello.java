package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Arrays;

/**
 * How a node introduces itself.
 *
 * @param cluster name of the cluster
 * @param fingerprint of the secret
 * @param node display name
 * @param incarnation differs after each start of the process
 * @param token that frames to this node carry, so that no other node's frames are taken for them
 */
record Hello(
    String cluster,
    byte[] fingerprint,
    String node,
    long incarnation,
    String version,
    byte[] token) {

  static final int GREETING = 0;
  static final int ANSWER = 1;
  static final int REFUSAL = 2;

  Hello {
    fingerprint = fingerprint.clone();
    token = token.clone();
  }

  /**
   * @param kind {@link #GREETING} or {@link #ANSWER}
   */
  byte[] toBytes(int kind) {
    return new WireWriter()
        .octet(kind)
        .text(cluster)
        .bytes(fingerprint)
        .text(node)
        .number(incarnation)
        .text(version)
        .bytes(token)
        .toBytes();
  }

  /** What a node gets that does not belong to this cluster. */
  static byte[] refusal(String reason) {
    return new WireWriter().octet(REFUSAL).text(reason).toBytes();
  }

  static Hello of(PeerBus.Introduction self, byte[] token) {
    return new Hello(
        self.cluster(), self.fingerprint(), self.node(), self.incarnation(), self.version(), token);
  }

  static Hello of(WireReader in) {
    return new Hello(in.text(), in.bytes(), in.text(), in.number(), in.text(), in.bytes());
  }

  /** Why this node and another one do not belong together; null if they do. */
  String objectionTo(Hello other) {
    if (!cluster.equals(other.cluster)) {
      return "cluster.name is \"" + other.cluster + "\" there and \"" + cluster + "\" here";
    }
    return Arrays.equals(fingerprint, other.fingerprint)
        ? null
        : "cluster.secret is different there";
  }
}
