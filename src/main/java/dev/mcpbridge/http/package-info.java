/**
 * The listener: one event loop, the checks before every door in order, and one table of routes.
 *
 * <p>{@link dev.mcpbridge.http.HttpVerticle} wires; {@link dev.mcpbridge.http.Routes} is the table.
 */
package dev.mcpbridge.http;
