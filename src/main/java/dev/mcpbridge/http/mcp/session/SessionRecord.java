package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Objects;

/**
 * The state of a session that nodes share.
 *
 * @param endpoint null for all servers
 * @param logLevel the lowest severity of log messages that the client gets
 */
record SessionRecord(
    String principal,
    ServerId endpoint,
    ProtocolVersion version,
    JsonSlice capabilities,
    String logLevel) {

  SessionRecord withLogLevel(String level) {
    return new SessionRecord(principal, endpoint, version, capabilities, level);
  }

  /** Whether a request to an endpoint by a principal may use the session. */
  boolean belongsTo(Principal caller, ServerId requested) {
    return principal.equals(caller.name()) && Objects.equals(endpoint, requested);
  }

  /** Whether the endpoint offers a server. */
  boolean covers(ServerId server) {
    return endpoint == null || endpoint.equals(server);
  }

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
