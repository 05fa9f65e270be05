/**
 * The MCP door: Streamable HTTP in both eras on the same path. What a client sends is taken apart
 * here and goes through the same pipeline as everything else; which era a request belongs to is
 * told by the request itself.
 */
package dev.mcpbridge.http.mcp;
