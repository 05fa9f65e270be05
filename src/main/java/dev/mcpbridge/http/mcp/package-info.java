/**
 * The MCP door: Streamable HTTP in both eras on the same path, and HTTP+SSE. The request itself
 * determines its era: {@code session} or {@code stateless}, which both use {@code request} and
 * {@code reply}.
 */
package dev.mcpbridge.http.mcp;
