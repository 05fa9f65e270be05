package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Converts messages to their JSON form (ProtoJSON) and back. Immutable. */
final class MessageJson {
  private final JsonFormat.Parser parser;
  private final JsonFormat.Printer printer;

  /**
   * @param registry the messages that an {@code Any} may contain
   */
  MessageJson(TypeRegistry registry) {
    this.parser = JsonFormat.parser().usingTypeRegistry(registry);
    this.printer =
        JsonFormat.printer()
            .usingTypeRegistry(registry)
            .alwaysPrintFieldsWithNoPresence()
            .omittingInsignificantWhitespace();
  }

  /**
   * The messages in the arguments of a tool, serialized.
   *
   * @param isStream whether the arguments have a list of messages
   * @throws BridgeException INVALID_ARGUMENTS
   */
  List<byte[]> requests(Descriptor type, boolean isStream, JsonSlice arguments) {
    Map<String, JsonSlice> members = JsonObjects.members(arguments);
    if (!isStream) {
      return List.of(MessageSchema.isObject(type) ? bytes(type, arguments) : value(type, members));
    }
    JsonSlice messages = members.get("messages");
    if (messages == null || !messages.isArray()) {
      throw invalid("messages must be a list");
    }
    return JsonObjects.elements(messages).stream().map(each -> bytes(type, each)).toList();
  }

  /** Null is a message without content, except for a type that has a null of its own. */
  private byte[] value(Descriptor type, Map<String, JsonSlice> members) {
    JsonSlice value = members.getOrDefault("value", JsonSlice.NULL);
    boolean isAbsent = value.equals(JsonSlice.NULL) && !type.getName().equals("Value");
    return isAbsent ? new byte[0] : bytes(type, value);
  }

  private byte[] bytes(Descriptor type, JsonSlice json) {
    DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
    try {
      parser.merge(json.text(), message);
      if (!message.isInitialized()) {
        throw invalid("missing: " + message.getInitializationErrorString());
      }
      return message.build().toByteArray();
    } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
      throw invalid(e.getMessage());
    }
  }

  private static BridgeException invalid(String problem) {
    return new BridgeException(
        ErrorCode.INVALID_ARGUMENTS, "The arguments are not valid: " + problem);
  }

  /**
   * The JSON form of a response.
   *
   * @param max maximum length in characters
   * @throws BridgeException RESPONSE_TOO_LARGE, or UPSTREAM_PROTOCOL_ERROR if it is not of the type
   */
  JsonSlice response(Descriptor type, byte[] message, int max) {
    try {
      BoundedText text = new BoundedText(max);
      printer.appendTo(DynamicMessage.parseFrom(type, message), text);
      return JsonSlice.of(text.toString());
    } catch (BridgeException tooLarge) {
      throw tooLarge;
    } catch (IOException | RuntimeException e) {
      throw new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR,
              "The response is not a valid " + type.getFullName() + ": " + e.getMessage())
          .withExecuted(Executed.YES);
    }
  }
}
