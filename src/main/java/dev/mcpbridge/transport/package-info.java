/**
 * Bytes to messages: one upstream connection each, whatever it is made of.
 *
 * <p>Pipes have threads of their own, and hand complete messages to the context of whoever opened
 * them. The only package that starts or ends processes.
 */
package dev.mcpbridge.transport;
