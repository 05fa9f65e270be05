/** The memory budget for buffered messages. */
package dev.mcpbridge.memory;
