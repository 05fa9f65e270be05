/** Who calls. Knows credentials and scopes, and nothing of HTTP. */
package dev.mcpbridge.auth;
