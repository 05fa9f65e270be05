/**
 * Several nodes, one bridge: who is alive, who owns which server, and what all of them know. {@link
 * dev.mcpbridge.cluster.Cluster} is what the rest of the bridge sees; a bridge on its own has one,
 * too, which costs nothing.
 */
package dev.mcpbridge.cluster;
