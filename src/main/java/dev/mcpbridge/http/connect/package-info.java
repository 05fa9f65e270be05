/** The pages on which users agree that the bridge uses a server in their name. */
package dev.mcpbridge.http.connect;
