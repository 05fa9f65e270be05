/** Executors of OpenAI-style function calls, as servers of tools. */
package dev.mcpbridge.adapter.toolcall;
