/**
 * Results that are returned again: which calls are answered from the cache of their server, and
 * which share one call of it.
 */
package dev.mcpbridge.cache;
