/**
 * The door for programs that drive a model: tools in the format of the model's API, and execution
 * of its tool calls.
 */
package dev.mcpbridge.http.toolcall;
