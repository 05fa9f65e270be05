/**
 * The plain REST door: the original's contract, field by field, and what grew around it. Each class
 * turns requests into calls of {@code call} and {@code bus} and answers back; nothing is decided
 * here. Requests are camelCase, responses snake_case, MCP results pass unchanged.
 */
package dev.mcpbridge.http.rest;
