/**
 * How the doors answer: JSON, problem documents (RFC 9457), event streams; and who it is that they
 * answer to. None is HTML.
 */
package dev.mcpbridge.http.reply;
