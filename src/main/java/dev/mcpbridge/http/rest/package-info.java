/**
 * The REST door: the original's contract, field by field, and its extensions. Each class translates
 * between HTTP and the packages {@code call} and {@code bus}; it contains no policy. Requests are
 * camelCase, responses snake_case; MCP results are passed unchanged.
 */
package dev.mcpbridge.http.rest;
