package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * The state of a session that nodes share.
 *
 * @param endpoint null for all servers
 */
record SessionRecord(
    String principal,
    ServerId endpoint,
    ProtocolVersion version,
    JsonSlice capabilities,
    String logLevel) {

  byte[] toBytes() {
    return new WireWriter()
        .text(principal)
        .optional(endpoint == null ? null : endpoint.name(), WireWriter::text)
        .text(version.date())
        .bytes(capabilities.toBytes())
        .text(logLevel)
        .toBytes();
  }

  static SessionRecord of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    String principal = in.text();
    String endpoint = in.optional(WireReader::text);
    return new SessionRecord(
        principal,
        endpoint == null ? null : new ServerId(endpoint),
        ProtocolVersion.of(in.text()).orElse(ProtocolVersion.LATEST),
        JsonSlice.of(in.bytes()),
        in.text());
  }
}
