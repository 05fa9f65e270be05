/**
 * The one failure vocabulary: what can go wrong, and what is known of the call that it happened to.
 *
 * <p>Everybody throws it; it is rendered at the edges only (problem+json, a JSON-RPC error, a bus
 * failure). Imports nothing of the bridge.
 */
package dev.mcpbridge.error;
