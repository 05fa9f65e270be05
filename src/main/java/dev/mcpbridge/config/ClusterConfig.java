package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;

/**
 * The cluster that this node is a member of.
 *
 * @param name of the cluster; nodes of a cluster with another name are refused
 * @param members addresses of all nodes for traffic between nodes, {@code host:port}, sorted
 * @param slot index of this node in {@code members}
 * @param host address on which this node listens for other nodes
 * @param node display name of this node
 * @param labels labels of this node, which servers can require for their placement
 * @param secret shared by all nodes; empty if not configured
 * @param tls null if nodes connect without TLS
 * @param leaseMillis how long a node keeps acting without contact to the other nodes
 * @param sharesFile whether the newest configuration file of any node applies to all nodes
 */
public record ClusterConfig(
    String name,
    List<String> members,
    int slot,
    String host,
    int port,
    String node,
    List<String> labels,
    String secret,
    Tls tls,
    long leaseMillis,
    boolean sharesFile) {

  /** PEM files. Only certificates issued by {@code authority} are trusted. */
  public record Tls(Path certificate, Path key, Path trustedCertificates) {}

  ClusterConfig withSecret(String newSecret) {
    return new ClusterConfig(
        name, members, slot, host, port, node, labels, newSecret, tls, leaseMillis, sharesFile);
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "ClusterConfig[" + name + " " + members + " " + node + "]";
  }
}
