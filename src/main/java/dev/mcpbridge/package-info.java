/**
 * Composition root: {@link dev.mcpbridge.Bridge} starts Vert.x, deploys the verticles in order and
 * closes them in reverse order. It is the entry point for embedding a bridge in another program.
 */
package dev.mcpbridge;
