/**
 * What a client of either era may request: calls through the pipeline that all doors share, with
 * their confirmations; lists; notifications of changes.
 */
package dev.mcpbridge.http.mcp.request;
