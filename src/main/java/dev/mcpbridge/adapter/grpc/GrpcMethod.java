package dev.mcpbridge.adapter.grpc;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import com.google.protobuf.Descriptors.MethodDescriptor;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;

/**
 * A method that is offered as a tool.
 *
 * @param definition as in {@code tools/list}
 */
record GrpcMethod(MethodDescriptor descriptor, JsonSlice definition) {
  /** A longer output schema is not promised; it would cost every client more than it tells. */
  private static final int MAX_OUTPUT_SCHEMA = 64 << 10;

  static GrpcMethod of(String tool, MethodDescriptor descriptor, Comments comments) {
    ObjectNode definition =
        Json.object().put("name", tool).put("description", description(descriptor, comments));
    definition.set(
        "inputSchema",
        MessageSchema.ofRequest(
            descriptor.getInputType(), descriptor.isClientStreaming(), comments));
    ObjectNode output =
        MessageSchema.ofResponse(
            descriptor.getOutputType(), descriptor.isServerStreaming(), comments);
    if (Json.slice(output).length() <= MAX_OUTPUT_SCHEMA) {
      definition.set("outputSchema", output);
    }
    IdempotencyLevel level = descriptor.getOptions().getIdempotencyLevel();
    if (level != IdempotencyLevel.IDEMPOTENCY_UNKNOWN) {
      definition
          .putObject("annotations")
          .put("readOnlyHint", level == IdempotencyLevel.NO_SIDE_EFFECTS)
          .put("idempotentHint", true);
    }
    return new GrpcMethod(descriptor, Json.slice(definition));
  }

  private static String description(MethodDescriptor descriptor, Comments comments) {
    String comment = comments.of(descriptor);
    String text = comment.isEmpty() ? "Calls " + descriptor.getFullName() + "." : comment;
    if (descriptor.isClientStreaming()) {
      text += "\nAll messages are sent at once.";
    }
    if (descriptor.isServerStreaming()) {
      text += "\nReturns a list of messages.";
    }
    return text;
  }

  /** Where the method is called. */
  String path() {
    return "/" + descriptor.getService().getFullName() + "/" + descriptor.getName();
  }
}
