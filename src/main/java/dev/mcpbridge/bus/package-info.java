/**
 * The only user of the Vert.x event bus: typed addresses, one codec, deadlines, failures.
 *
 * <p>Messages are immutable values; within one JVM they are passed by reference.
 */
package dev.mcpbridge.bus;
