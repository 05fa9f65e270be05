/**
 * The HTTP listener: one event loop, the checks before the doors, and the table of routes.
 *
 * <p>{@link dev.mcpbridge.http.HttpVerticle} wires; {@link dev.mcpbridge.http.Routes} is the table.
 */
package dev.mcpbridge.http;
