/**
 * Quotas, rates and limits on concurrency of calls. What is counted for callers is counted where
 * their requests arrive, what is counted for servers where these run. Thread-safe.
 */
package dev.mcpbridge.quota;
