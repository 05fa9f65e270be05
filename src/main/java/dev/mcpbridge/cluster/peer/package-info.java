/** Messages between nodes, over a clustered event bus of Vert.x that serves nothing else. */
package dev.mcpbridge.cluster.peer;
