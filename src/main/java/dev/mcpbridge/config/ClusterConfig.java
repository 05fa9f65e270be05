package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;

/**
 * The nodes of which this one is one.
 *
 * @param name of the cluster; nodes of another name are refused
 * @param members addresses for nodes among each other, {@code host:port}, sorted, all of them
 * @param slot which of them this node is
 * @param host where it listens for the others
 * @param node its name for people
 * @param labels what servers may ask for
 * @param secret that all nodes know; empty where none is configured
 * @param tls null for none
 * @param leaseMillis how long a node acts without having been heard of
 * @param sharesFile whether the newest configuration file of a node is that of all
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

  /** PEM files; the authority's is the only one that is trusted. */
  public record Tls(Path certificate, Path key, Path authority) {}

  ClusterConfig withSecret(String other) {
    return new ClusterConfig(
        name, members, slot, host, port, node, labels, other, tls, leaseMillis, sharesFile);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "ClusterConfig[" + name + " " + members + " " + node + "]";
  }
}
