package dev.mcpbridge.protocol;

/** Which of the two kinds of MCP a server is taken to speak. */
public enum Era {
  /** With a handshake and a session, up to 2025-11-25. */
  LEGACY,
  /** Each request for itself, 2026-07-28. */
  STATELESS,
  /** Asked, and taken for legacy where it does not know the question. */
  UNKNOWN
}
