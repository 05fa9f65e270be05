/**
 * Servers that are not MCP, made to look like one: a transport on whose other side there is no
 * process and no MCP endpoint, but somebody who reads a request and calls something else.
 */
package dev.mcpbridge.adapter;
