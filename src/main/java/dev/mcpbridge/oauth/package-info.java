/**
 * The bridge as an OAuth 2.1 client of servers: discovery of authorization servers, registration,
 * authorization codes, refresh, client credentials. The consent page is in {@code http}.
 */
package dev.mcpbridge.oauth;
