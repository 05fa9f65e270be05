/** The binary format of messages between nodes. Does not depend on other packages of the bridge. */
package dev.mcpbridge.wire;
