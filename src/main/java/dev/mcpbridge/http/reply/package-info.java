/**
 * The responses of the doors: JSON, problem documents (RFC 9457) and event streams, never HTML; and
 * the principal of a request.
 */
package dev.mcpbridge.http.reply;
