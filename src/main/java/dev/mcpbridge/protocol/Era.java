package dev.mcpbridge.protocol;

/** The generation of MCP that a server speaks. */
public enum Era {
  /** Handshake and session, revisions up to 2025-11-25. */
  LEGACY,
  /** Self-contained requests, revision 2026-07-28. */
  STATELESS,
  /** Probed; treated as legacy if the server does not support the probe. */
  UNKNOWN
}
