/**
 * Upstream servers under supervision.
 *
 * <p>{@link dev.mcpbridge.server.ServerVerticle} owns one server: its instances, their states, the
 * queue before them, the catalogue. {@link dev.mcpbridge.server.SupervisorVerticle} deploys,
 * replaces and removes those verticles. Both only wire; the rest are plain classes confined to the
 * verticle's context.
 */
package dev.mcpbridge.server;
