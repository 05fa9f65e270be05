/** Authentication of callers: credentials and scopes. Independent of HTTP. */
package dev.mcpbridge.auth;
