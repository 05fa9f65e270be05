package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.Descriptors.MethodDescriptor;
import dev.mcpbridge.adapter.Backend.Invocation;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.IntFunction;

/** One call of a method: its requests, its responses and its result. Confined to its context. */
final class GrpcCall implements MessageReceiver {
  private static final int MAX_PROGRESS = 200;
  private static final int OVERHEAD = 32;

  private final Vertx vertx;
  private final GrpcApi api;
  private final GrpcMethod method;
  private final Invocation invocation;
  private final Limits limits;
  private final List<byte[]> responses = new ArrayList<>();
  private GrpcChannel.Exchange exchange;
  private long bytes;
  private boolean isTruncated;
  private boolean isCancelled;
  private boolean isUnimplemented;

  /**
   * @param maxMessages responses of a stream
   * @param maxBytes of all responses together, and of their JSON
   */
  record Limits(int maxMessages, int maxBytes) {}

  GrpcCall(Vertx vertx, GrpcApi api, GrpcMethod method, Invocation invocation, Limits limits) {
    this.vertx = vertx;
    this.api = api;
    this.method = method;
    this.invocation = invocation;
    this.limits = limits;
  }

  /**
   * Runs the call.
   *
   * @return a {@code CallToolResult}
   */
  Future<JsonSlice> run(GrpcChannel channel, Map<String, String> headers) {
    return requests()
        .compose(
            requests -> {
              if (isCancelled) {
                return Future.failedFuture(new BridgeException(ErrorCode.CANCELLED, "cancelled"));
              }
              exchange =
                  channel.call(
                      new GrpcChannel.Request(
                          method.path(), requests, headers, invocation.timeoutMillis()),
                      this);
              return exchange.status();
            })
        .compose(this::outcome);
  }

  private Future<List<byte[]>> requests() {
    MethodDescriptor type = method.descriptor();
    JsonSlice arguments = invocation.arguments();
    Callable<List<byte[]>> conversion =
        () -> api.json().requests(type.getInputType(), type.isClientStreaming(), arguments);
    return arguments.length() > MemoryBudget.LARGE
        ? vertx.executeBlocking(conversion, false)
        : Future.future(promise -> promise.complete(called(conversion)));
  }

  private static <T> T called(Callable<T> conversion) {
    try {
      return conversion.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private Future<JsonSlice> outcome(GrpcStatus status) {
    isUnimplemented = status.code() == GrpcStatus.UNIMPLEMENTED;
    return status.isOk()
        ? printed(this::result)
        : Future.succeededFuture(GrpcOutcome.of(status, api.errorDetails()));
  }

  /** Prints short JSON at once, and what turns out to be long on a worker thread. */
  private Future<JsonSlice> printed(IntFunction<JsonSlice> printer) {
    if (bytes <= MemoryBudget.LARGE) {
      try {
        return Future.succeededFuture(printer.apply(MemoryBudget.LARGE));
      } catch (BridgeException e) {
        if (e.code() != ErrorCode.RESPONSE_TOO_LARGE) {
          return Future.failedFuture(e);
        }
      }
    }
    return vertx.executeBlocking(() -> printer.apply(limits.maxBytes()), false);
  }

  void cancel() {
    isCancelled = true;
    if (exchange != null) {
      exchange.cancel();
    }
  }

  /** Whether the server does not have the method. */
  boolean isUnimplemented() {
    return isUnimplemented;
  }

  @Override
  public boolean receive(byte[] message) {
    boolean isStream = method.descriptor().isServerStreaming();
    if (!isStream && !responses.isEmpty()) {
      throw new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The server sent more than one response")
          .withExecuted(Executed.YES);
    }
    boolean isFull = responses.size() == limits.maxMessages();
    isTruncated = isStream && (isFull || bytes + message.length > limits.maxBytes());
    if (isTruncated) {
      return false;
    }
    bytes += message.length;
    responses.add(message);
    if (invocation.progress() != null && isStream) {
      invocation.progress().accept(responses.size(), excerpt(message));
    }
    return true;
  }

  @Override
  public long heldBytes() {
    return bytes + (long) OVERHEAD * responses.size();
  }

  /** The JSON of a short message; a long one is not even read here. */
  private String excerpt(byte[] message) {
    if (message.length > MAX_PROGRESS) {
      return message.length + " bytes";
    }
    try {
      return json(message, MAX_PROGRESS).text();
    } catch (BridgeException longOrInvalid) {
      return message.length + " bytes";
    }
  }

  private JsonSlice json(byte[] message, int max) {
    return api.json().response(method.descriptor().getOutputType(), message, max);
  }

  /** The JSON is in the result twice, unless it is so long that no model would read the text. */
  private JsonSlice result(int max) {
    JsonSlice structured = method.descriptor().isServerStreaming() ? stream(max) : single(max);
    boolean isShort = structured.length() <= limits.maxBytes() / 4;
    String text =
        isShort ? structured.text() : structured.length() + " bytes, see structuredContent";
    return ToolResult.text(text).structured(structured).done();
  }

  private JsonSlice stream(int max) {
    JsonWriter out = new JsonWriter().beginObject().name("messages").beginArray();
    for (byte[] message : responses) {
      out.value(json(message, max - Math.min(max, out.size())));
    }
    return out.endArray().member("truncated", isTruncated).endObject().toSlice();
  }

  private JsonSlice single(int max) {
    if (responses.isEmpty()) {
      throw new BridgeException(ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The server sent no response")
          .withExecuted(Executed.YES);
    }
    JsonSlice json = json(responses.get(0), max);
    return MessageSchema.isObject(method.descriptor().getOutputType())
        ? json
        : new JsonWriter().beginObject().member("value", json).endObject().toSlice();
  }
}
