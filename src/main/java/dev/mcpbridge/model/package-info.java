/**
 * The domain model: servers, their states and catalogues, calls, risk levels, confirmations.
 *
 * <p>Immutable values that are validated in their constructors. They may depend on the wire values
 * of {@code protocol} (a tool contains the bytes of its definition) and on the error types.
 */
package dev.mcpbridge.model;
