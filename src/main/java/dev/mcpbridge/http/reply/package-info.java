/**
 * How the doors answer: JSON, problem documents (RFC 9457), event streams; and who it is that they
 * answer to. Every response says {@code nosniff}, none is HTML.
 */
package dev.mcpbridge.http.reply;
