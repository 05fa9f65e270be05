/**
 * Our nouns: servers, their states and catalogues, calls, risk levels, confirmations.
 *
 * <p>Immutable values that refuse to be wrong in their constructors. They may import the wire
 * values of {@code protocol} (a tool is made of its definition's bytes) and the failure vocabulary.
 */
package dev.mcpbridge.model;
