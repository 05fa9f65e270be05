/** Adapter for executors of OpenAI-style function calls. */
package dev.mcpbridge.adapter.toolcall;
