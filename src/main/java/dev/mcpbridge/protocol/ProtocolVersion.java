package dev.mcpbridge.protocol;

import java.util.Optional;

/** The MCP revisions with a handshake that the bridge supports, newest first. */
public enum ProtocolVersion {
  V2025_11_25("2025-11-25"),
  V2025_06_18("2025-06-18"),
  V2025_03_26("2025-03-26"),
  V2024_11_05("2024-11-05");

  public static final ProtocolVersion LATEST = V2025_11_25;

  /** The revision without a handshake, whose requests are self-contained. */
  public static final String STATELESS = "2026-07-28";

  private final String date;

  ProtocolVersion(String date) {
    this.date = date;
  }

  public String date() {
    return date;
  }

  public static Optional<ProtocolVersion> of(String date) {
    for (ProtocolVersion version : values()) {
      if (version.date.equals(date)) {
        return Optional.of(version);
      }
    }
    return Optional.empty();
  }
}
