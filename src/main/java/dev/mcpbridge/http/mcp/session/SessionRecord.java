package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * The state of a session that nodes share.
 *
 * @param endpoint what its address offers
 * @param logLevel the lowest severity of log messages that the client gets
 */
record SessionRecord(
    String principal,
    Selection endpoint,
    ProtocolVersion version,
    JsonSlice capabilities,
    String logLevel) {

  SessionRecord withLogLevel(String level) {
    return new SessionRecord(principal, endpoint, version, capabilities, level);
  }

  /** Whether a request to an endpoint by a principal may use the session. */
  boolean belongsTo(Principal caller, Selection requested) {
    return principal.equals(caller.name()) && endpoint.equals(requested);
  }

  byte[] toBytes() {
    return new WireWriter()
        .text(principal)
        .optional(endpoint.server() == null ? null : endpoint.server().name(), WireWriter::text)
        .optional(endpoint.profile(), WireWriter::text)
        .text(version.date())
        .bytes(capabilities.toBytes())
        .text(logLevel)
        .toBytes();
  }

  static SessionRecord of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    String principal = in.text();
    String server = in.optional(WireReader::text);
    String profile = in.optional(WireReader::text);
    return new SessionRecord(
        principal,
        new Selection(server == null ? null : new ServerId(server), profile),
        ProtocolVersion.of(in.text()).orElse(ProtocolVersion.LATEST),
        JsonSlice.of(in.bytes()),
        in.text());
  }
}
