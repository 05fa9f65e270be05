/**
 * The wire format: JSON as bytes, JSON-RPC envelopes, the methods and revisions of MCP.
 *
 * <p>Plain Java without threads and I/O. The bridge parses only what it needs for its decisions and
 * forwards the rest unchanged, so values are passed as {@link dev.mcpbridge.protocol.JsonSlice} and
 * not as trees.
 */
package dev.mcpbridge.protocol;
