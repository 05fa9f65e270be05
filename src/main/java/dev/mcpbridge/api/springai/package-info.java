/** The tools of a bridge for Spring AI, for programs that have it on their class path. */
package dev.mcpbridge.api.springai;
