/**
 * The spans of requests: where they begin and end, and what they are called. Knows no SDK; see
 * {@code otel}.
 */
package dev.mcpbridge.trace;
