/**
 * The JSON-RPC conversation with one upstream: ids of our own, deadlines, cancellation, the
 * handshake, lists over all their pages.
 *
 * <p>Confined to the context of the verticle that owns the server. Knows nothing of risk, queues or
 * restarts. The revisions with a handshake live in {@link dev.mcpbridge.session.Handshake}; a
 * stateless revision is another class beside it.
 */
package dev.mcpbridge.session;
