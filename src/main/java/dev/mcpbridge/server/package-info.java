/**
 * Supervision of upstream servers.
 *
 * <p>{@link dev.mcpbridge.server.ServerVerticle} owns one server: its instances, their states, its
 * call queue and its catalogue. {@link dev.mcpbridge.server.SupervisorVerticle} deploys, replaces
 * and removes these verticles. Both only connect the parts; the other classes are plain objects
 * confined to the verticle's context.
 */
package dev.mcpbridge.server;
