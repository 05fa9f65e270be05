/**
 * Clustering: membership, ownership of servers and replicated state. The rest of the bridge uses
 * {@link dev.mcpbridge.cluster.Cluster}; a single node has a trivial implementation of it.
 */
package dev.mcpbridge.cluster;
