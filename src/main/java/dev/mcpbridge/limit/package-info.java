/** Bounds that callers share, so that none of them can use up what the others need. */
package dev.mcpbridge.limit;
