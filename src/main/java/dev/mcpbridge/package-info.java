/**
 * Composition: {@link dev.mcpbridge.Bridge} brings Vert.x up, deploys the verticles in order and
 * closes them in reverse. To run a bridge inside another program, this is the one class to know.
 */
package dev.mcpbridge;
