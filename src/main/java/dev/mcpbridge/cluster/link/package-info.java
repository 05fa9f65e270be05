/**
 * The connections between the nodes of one bridge: one for each pair, over TLS where that is
 * configured, between nodes that know the same secret. Whole messages in both directions; large
 * ones in pieces, so that small ones are not held up.
 */
package dev.mcpbridge.cluster.link;
