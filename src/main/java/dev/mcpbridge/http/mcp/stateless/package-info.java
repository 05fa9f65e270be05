/** The stateless era, 2026-07-28: requests that identify their client themselves. */
package dev.mcpbridge.http.mcp.stateless;
