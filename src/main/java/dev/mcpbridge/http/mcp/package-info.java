/**
 * The MCP door: Streamable HTTP in both eras on the same path, and HTTP+SSE. The request itself
 * determines its era. Messages are parsed here; calls go through the pipeline that all doors share.
 */
package dev.mcpbridge.http.mcp;
