/** What is counted, and the page that shows it. */
package dev.mcpbridge.metrics;
