/** The era with a handshake, up to 2025-11-25: sessions over Streamable HTTP and HTTP+SSE. */
package dev.mcpbridge.http.mcp.session;
