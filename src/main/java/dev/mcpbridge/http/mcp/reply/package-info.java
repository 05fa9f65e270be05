/** The messages of MCP clients, and the replies to them: whole, streamed, or errors. */
package dev.mcpbridge.http.mcp.reply;
