package dev.mcpbridge.cli;

import dev.mcpbridge.config.NodeOptions;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options that make a bridge a node of a cluster. */
final class ClusterOptions {
  @Option(names = "--cluster", description = "Run as a node of the cluster in the configuration.")
  private boolean isNode;

  @Option(
      names = "--cluster-host",
      paramLabel = "HOST",
      description = "Host at which other nodes reach this node.")
  private String host;

  @Option(
      names = "--cluster-port",
      paramLabel = "PORT",
      description = "Port at which other nodes reach this node.")
  private Integer port;

  @Option(
      names = "--node",
      paramLabel = "NAME",
      description = "Name of this node (default: its address).")
  private String node;

  /** Empty for a single-node bridge. */
  Optional<NodeOptions> nodeOptions() {
    boolean isClusterNode = isNode || host != null || port != null || node != null;
    return isClusterNode ? Optional.of(new NodeOptions(host, port, node)) : Optional.empty();
  }
}
