package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Arrays;

/**
 * How a node introduces itself.
 *
 * @param cluster name of the cluster
 * @param fingerprint of the secret
 * @param address of the node on the event bus
 * @param node display name
 * @param incarnation differs after each start of the process
 * @param token that frames to this node carry, so that no other node's frames are taken for them
 */
record Hello(
    String cluster,
    byte[] fingerprint,
    String address,
    String node,
    long incarnation,
    String version,
    byte[] token) {

  Hello {
    fingerprint = fingerprint.clone();
    token = token.clone();
  }

  byte[] toBytes() {
    return new WireWriter()
        .text(cluster)
        .bytes(fingerprint)
        .text(address)
        .text(node)
        .number(incarnation)
        .text(version)
        .bytes(token)
        .toBytes();
  }

  static Hello of(PeerBus.Introduction self, byte[] token) {
    return new Hello(
        self.cluster(),
        self.fingerprint(),
        self.address(),
        self.node(),
        self.incarnation(),
        self.version(),
        token);
  }

  /** The answer to the hello of a node that belongs to this cluster. */
  byte[] toAnswer() {
    byte[] hello = toBytes();
    byte[] answer = new byte[hello.length + 1];
    System.arraycopy(hello, 0, answer, 1, hello.length);
    return answer;
  }

  static Hello of(WireReader in) {
    return new Hello(
        in.text(), in.bytes(), in.text(), in.text(), in.number(), in.text(), in.bytes());
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
