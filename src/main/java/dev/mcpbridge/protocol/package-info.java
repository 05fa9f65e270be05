/**
 * The wire: JSON as bytes, JSON-RPC envelopes, the verbs and revisions of MCP.
 *
 * <p>Everything here is plain Java, free of threads and of I/O. The bridge parses what it decides
 * on and forwards the rest untouched, so a value travels as a {@link
 * dev.mcpbridge.protocol.JsonSlice} and not as a tree.
 */
package dev.mcpbridge.protocol;
