/**
 * The only user of the Vert.x event bus: typed addresses, one codec, deadlines, failures.
 *
 * <p>Messages are immutable values; within one JVM the reference itself travels.
 */
package dev.mcpbridge.bus;
