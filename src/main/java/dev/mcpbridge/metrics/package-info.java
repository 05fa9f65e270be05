/** Metrics and their exposition page. */
package dev.mcpbridge.metrics;
