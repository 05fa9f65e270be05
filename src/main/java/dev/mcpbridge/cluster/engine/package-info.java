/** The coordination store: ZooKeeper, embedded in the first nodes or run by the operator. */
package dev.mcpbridge.cluster.engine;
