/**
 * The formats in which model providers represent tools, tool calls and results, and the JSON Schema
 * dialects they accept. Pure functions without I/O.
 */
package dev.mcpbridge.dialect;
