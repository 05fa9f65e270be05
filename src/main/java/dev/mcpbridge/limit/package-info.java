/** Limits shared by callers, so that no caller can use up what the others need. */
package dev.mcpbridge.limit;
