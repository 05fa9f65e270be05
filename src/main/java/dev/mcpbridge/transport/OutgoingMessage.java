package dev.mcpbridge.transport;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MirroredHeaders;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import dev.mcpbridge.protocol.TraceContext;
import java.util.Map;

/**
 * An outgoing message, decoded as far as the HTTP transports need it.
 *
 * @param line the encoded message
 * @param params the members of its params; empty if absent
 */
record OutgoingMessage(byte[] line, RpcMessage message, Map<String, JsonSlice> params) {

  /** Placeholder for the standalone stream, which belongs to no message. */
  static final OutgoingMessage NOTHING =
      new OutgoingMessage(
          new byte[0], new RpcMessage(RpcMessage.Kind.NOTIFICATION, null, "", null), Map.of());

  static OutgoingMessage of(RpcReader reader, byte[] line) {
    try {
      RpcMessage message = reader.read(line, 0, line.length - 1);
      JsonSlice params = message.payload();
      boolean hasParams = message.method() != null && params != null;
      return new OutgoingMessage(line, message, hasParams ? JsonObjects.members(params) : Map.of());
    } catch (JsonSyntaxException e) {
      throw new IllegalStateException("invalid outgoing message", e);
    }
  }

  /** The id of a request; −1 for any other message. */
  long id() {
    return message.kind() == RpcMessage.Kind.REQUEST ? message.numericId() : -1;
  }

  /** The id of the request that this message cancels; −1 for any other message. */
  long cancelled() {
    JsonSlice id = is(McpMethod.CANCELLED) ? params.get("requestId") : null;
    return id == null
        ? -1
        : new RpcMessage(RpcMessage.Kind.NOTIFICATION, id, null, null).numericId();
  }

  boolean is(String method) {
    return method.equals(message.method());
  }

  boolean isStateless() {
    return MirroredHeaders.isStateless(params);
  }

  /** The trace context of a request, as headers too (W3C Trace Context section 3). */
  Map<String, String> traceContext() {
    return TraceContext.headers(params.getOrDefault("_meta", JsonSlice.EMPTY_OBJECT));
  }

  /** The headers that mirror the body of a stateless request. */
  Map<String, String> headers(MirroredHeaders mirrored) {
    return mirrored.of(message.method(), params);
  }
}
