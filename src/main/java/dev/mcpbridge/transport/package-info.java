/**
 * Transports: each is one connection to one upstream and turns bytes into messages.
 *
 * <p>Pipes have their own threads, which hand complete messages to the context that opened the
 * transport. This is the only package that starts or ends processes.
 */
package dev.mcpbridge.transport;
