package dev.mcpbridge.cli;

import dev.mcpbridge.config.NodeOptions;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Whether a bridge is one node of several, and which. */
final class ClusterOptions {
  @Option(
      names = "--cluster",
      description = "Be a node of the cluster that the configuration names.")
  private boolean isNode;

  @Option(
      names = "--cluster-host",
      paramLabel = "HOST",
      description = "This node's host among cluster.members.")
  private String host;

  @Option(
      names = "--cluster-port",
      paramLabel = "PORT",
      description = "This node's port among cluster.members.")
  private Integer port;

  @Option(
      names = "--node",
      paramLabel = "NAME",
      description = "This node's name (default: its address).")
  private String node;

  /** Empty for a bridge of one node. */
  Optional<NodeOptions> choice() {
    boolean isWanted = isNode || host != null || port != null || node != null;
    return isWanted ? Optional.of(new NodeOptions(host, port, node)) : Optional.empty();
  }
}
