/**
 * The JSON-RPC session with one upstream: request ids, deadlines, cancellation, the handshake and
 * paginated lists.
 *
 * <p>Confined to the context of the verticle that owns the server. Independent of risk levels,
 * queues and restarts. {@link dev.mcpbridge.session.Handshake} implements the revisions with a
 * handshake, {@link dev.mcpbridge.session.Discover} the stateless revision.
 */
package dev.mcpbridge.session;
