/** What the bridge holds for others, and how much of it is too much. */
package dev.mcpbridge.memory;
