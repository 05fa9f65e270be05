/**
 * A bridge as a part of another program: {@link dev.mcpbridge.api.McpBridge} starts it on the
 * Vert.x of that program. This package and those below it are the API of the library, under
 * semantic versioning; all other packages may change in every version.
 */
package dev.mcpbridge.api;
