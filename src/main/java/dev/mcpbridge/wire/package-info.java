/** The binary form of what nodes of one bridge say to each other. Imports nothing of the bridge. */
package dev.mcpbridge.wire;
