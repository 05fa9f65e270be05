/**
 * Adapters that make services other than MCP servers available as MCP servers: a transport that
 * leads to neither a process nor an MCP endpoint, but to a backend that calls the service.
 */
package dev.mcpbridge.adapter;
