package dev.mcpbridge.config;

import dev.mcpbridge.protocol.PercentEncoding;
import java.nio.file.Path;
import java.util.List;

/**
 * The cluster that this node is a member of.
 *
 * @param name of the cluster; nodes of a cluster with another name are refused
 * @param members addresses of the first nodes for traffic between nodes, {@code host:port}, sorted
 * @param address address of this node, {@code host:port}
 * @param host address on which this node listens for other nodes
 * @param node display name of this node
 * @param labels labels of this node, which servers can require for their placement
 * @param secret shared by all nodes; empty if not configured
 * @param tls null if nodes connect without TLS
 * @param leaseMillis how long a node keeps acting without contact to the other nodes
 * @param sharesFile whether the newest configuration file of any node applies to all nodes
 * @param folder private folder of this node; null for the default
 * @param zookeeper addresses of ZooKeeper servers that the operator runs; null for embedded servers
 */
public record ClusterConfig(
    String name,
    List<String> members,
    String address,
    String host,
    String node,
    List<String> labels,
    String secret,
    Tls tls,
    long leaseMillis,
    boolean sharesFile,
    Path folder,
    String zookeeper) {

  /** PEM files. Only certificates issued by {@code authority} are trusted. */
  public record Tls(Path certificate, Path key, Path trustedCertificates) {}

  /** The host part of {@link #address}. */
  public String advertisedHost() {
    String own = address.substring(0, address.lastIndexOf(':'));
    return own.startsWith("[") ? own.substring(1, own.length() - 1) : own;
  }

  ClusterConfig withSecret(String newSecret) {
    return with(newSecret, folder);
  }

  /**
   * The same with a folder of its own in the user's state folder.
   *
   * @param state the state folder of the user's bridges
   */
  public ClusterConfig withDefaultFolder(Path state) {
    return with(
        secret,
        state
            .resolve("cluster")
            .resolve(PercentEncoding.encoded(name))
            .resolve(PercentEncoding.encoded(address)));
  }

  private ClusterConfig with(String newSecret, Path newFolder) {
    return new ClusterConfig(
        name,
        members,
        address,
        host,
        node,
        labels,
        newSecret,
        tls,
        leaseMillis,
        sharesFile,
        newFolder,
        zookeeper);
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "ClusterConfig[" + name + " " + members + " " + node + "]";
  }
}
