package dev.mcpbridge.transport;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MirroredHeaders;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import java.util.Map;

/**
 * A message of ours on its way out, as far as HTTP has to know it.
 *
 * @param params the members of its params
 */
record OutgoingMessage(byte[] line, RpcMessage message, Map<String, JsonSlice> params) {

  /** Stands behind a stream that answers no message. */
  static final OutgoingMessage NOTHING =
      new OutgoingMessage(
          new byte[0], new RpcMessage(RpcMessage.Kind.NOTIFICATION, null, "", null), Map.of());

  static OutgoingMessage of(RpcReader reader, byte[] line) {
    try {
      RpcMessage message = reader.read(line, 0, line.length - 1);
      JsonSlice params = message.payload();
      boolean has = message.method() != null && params != null;
      return new OutgoingMessage(line, message, has ? JsonObjects.members(params) : Map.of());
    } catch (JsonSyntaxException e) {
      throw new IllegalStateException("a message of our own", e);
    }
  }

  /** The id of a request; −1 for anything else. */
  long id() {
    return message.kind() == RpcMessage.Kind.REQUEST ? message.numericId() : -1;
  }

  /** The request that it cancels; −1 for anything else. */
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

  /** The headers that say what a stateless request's body says. */
  Map<String, String> headers(MirroredHeaders mirrored) {
    return mirrored.of(message.method(), params);
  }
}
