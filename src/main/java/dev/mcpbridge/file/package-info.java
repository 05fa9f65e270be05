/** Files of the bridge. Floor 1. */
package dev.mcpbridge.file;
