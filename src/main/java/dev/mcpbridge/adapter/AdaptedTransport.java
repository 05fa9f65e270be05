package dev.mcpbridge.adapter;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import dev.mcpbridge.protocol.TraceContext;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * An in-process MCP server (revision 2025-11-25) in front of a {@link Backend}. The handshake opens
 * the backend, so opening is limited by the start timeout. Confined to its context; responses are
 * delivered in a later turn of the event loop, as those of a remote server are.
 */
public final class AdaptedTransport implements Transport {
  private static final int MAX_DEPTH = 1000;
  private static final long CLOSE_MILLIS = 1_000;
  private static final JsonSlice EMPTY_LIST = JsonSlice.of("[]");

  private final Context context;
  private final Backend backend;
  private final TransportListener listener;
  private final RpcReader reader = new RpcReader(MAX_DEPTH);
  private final Set<String> queued = new HashSet<>();
  private final Map<String, Backend.RunningCall> running = new HashMap<>();
  private boolean closed;

  public AdaptedTransport(Context context, Backend backend, TransportListener listener) {
    this.context = context;
    this.backend = backend;
    this.listener = listener;
  }

  @Override
  public long send(byte[] line) {
    RpcMessage message = read(line);
    if (message.kind() == RpcMessage.Kind.REQUEST) {
      queued.add(message.id().text());
      context.runOnContext(v -> answer(message));
    } else if (McpMethod.CANCELLED.equals(message.method())) {
      cancel(members(message).get("requestId"));
    }
    return 0;
  }

  @Override
  public Future<Void> close() {
    boolean isFirst = !closed;
    closed = true;
    List.copyOf(running.values()).forEach(call -> call.cancel().run());
    Future<Void> timeout = context.owner().timer(CLOSE_MILLIS).mapEmpty();
    return Future.any(backend.close(), timeout)
        .<Void>mapEmpty()
        .onComplete(
            done -> {
              if (isFirst) {
                listener.closed("stopped");
              }
            });
  }

  private RpcMessage read(byte[] line) {
    try {
      return reader.read(line, 0, line.length);
    } catch (JsonSyntaxException e) {
      throw new IllegalStateException("a session sent an invalid message", e);
    }
  }

  private void answer(RpcMessage request) {
    if (!queued.remove(request.id().text()) || closed) {
      return;
    }
    outcome(request)
        .onComplete(
            result -> deliver(new RpcMessage(RpcMessage.Kind.RESULT, request.id(), null, result)),
            failure -> fail(request, failure));
  }

  private Future<JsonSlice> outcome(RpcMessage request) {
    return switch (request.method()) {
      case McpMethod.INITIALIZE ->
          backend
              .open(new BackendListener(request.numericId()))
              .map(AdaptedTransport::initializeResult);
      case McpMethod.PING -> backend.probe().map(JsonSlice.EMPTY_OBJECT);
      case McpMethod.TOOLS_LIST -> Future.succeededFuture(tools());
      case McpMethod.RESOURCES_LIST -> Future.succeededFuture(list("resources", EMPTY_LIST));
      case McpMethod.TEMPLATES_LIST ->
          Future.succeededFuture(list("resourceTemplates", EMPTY_LIST));
      case McpMethod.RESOURCES_READ ->
          backend.read(JsonObjects.string(members(request).get("uri")));
      case McpMethod.TOOLS_CALL -> call(request);
      default ->
          Future.failedFuture(
              new BridgeException(
                  ErrorCode.METHOD_NOT_FOUND, "Method not supported: " + request.method()));
    };
  }

  private Future<JsonSlice> call(RpcMessage request) {
    Map<String, JsonSlice> params = members(request);
    JsonSlice meta = params.getOrDefault("_meta", JsonSlice.EMPTY_OBJECT);
    Map<String, JsonSlice> metaMembers = JsonObjects.members(meta);
    JsonSlice timeout = metaMembers.get(MetaKeys.TIMEOUT);
    Backend.RunningCall call =
        started(
            new Backend.Invocation(
                JsonObjects.string(params.get("name")),
                params.getOrDefault("arguments", JsonSlice.EMPTY_OBJECT),
                JsonObjects.string(metaMembers.get(MetaKeys.AUTHORIZATION)),
                TraceContext.headers(meta),
                timeout == null ? 0 : Long.parseLong(timeout.text()),
                progress(metaMembers.get(MetaKeys.PROGRESS_TOKEN))));
    String id = request.id().text();
    running.put(id, call);
    return call.result().onComplete(done -> running.remove(id));
  }

  /** If the backend throws, it is open whether the call was executed. */
  private Backend.RunningCall started(Backend.Invocation invocation) {
    try {
      return backend.call(invocation);
    } catch (RuntimeException e) {
      return Backend.RunningCall.of(Future.failedFuture(BridgeException.of(e)));
    }
  }

  private BiConsumer<Integer, String> progress(JsonSlice token) {
    return token == null
        ? null
        : (count, text) ->
            deliver(
                new RpcMessage(
                    RpcMessage.Kind.NOTIFICATION,
                    null,
                    McpMethod.PROGRESS,
                    new JsonWriter()
                        .beginObject()
                        .member("progressToken", token)
                        .member("progress", count)
                        .member("message", text)
                        .endObject()
                        .toSlice()));
  }

  private void cancel(JsonSlice id) {
    if (id == null) {
      return;
    }
    queued.remove(id.text());
    Backend.RunningCall call = running.remove(id.text());
    if (call != null) {
      call.cancel().run();
    }
  }

  private static JsonSlice initializeResult(Backend.Identity identity) {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("protocolVersion", "2025-11-25")
            .member(
                "capabilities", JsonSlice.of("{\"tools\":{\"listChanged\":true},\"resources\":{}}"))
            .name("serverInfo")
            .beginObject()
            .member("name", identity.name())
            .member("version", identity.version())
            .endObject();
    if (identity.instructions() != null) {
      out.member("instructions", identity.instructions());
    }
    return out.endObject().toSlice();
  }

  private JsonSlice tools() {
    JsonWriter out = new JsonWriter(4096).beginArray();
    backend.tools().forEach(out::value);
    JsonSlice list = list("tools", out.endArray().toSlice());
    JsonSlice omitted = backend.omitted();
    return omitted == null
        ? list
        : JsonObjects.with(
            list,
            "_meta",
            new JsonWriter().beginObject().member(MetaKeys.OMITTED, omitted).endObject().toSlice());
  }

  private static JsonSlice list(String member, JsonSlice entries) {
    return new JsonWriter(entries.length() + 32)
        .beginObject()
        .member(member, entries)
        .endObject()
        .toSlice();
  }

  private final class BackendListener implements Backend.Listener {
    private final long requestId;

    BackendListener(long requestId) {
      this.requestId = requestId;
    }

    @Override
    public void changed() {
      deliver(
          new RpcMessage(
              RpcMessage.Kind.NOTIFICATION, null, McpMethod.TOOLS_CHANGED, JsonSlice.EMPTY_OBJECT));
    }

    @Override
    public <T> Future<T> withoutTimeout(Supplier<Future<T>> work) {
      listener.onBridgeWork(requestId, true);
      return work.get().onComplete(done -> listener.onBridgeWork(requestId, false));
    }
  }

  private void fail(RpcMessage request, Throwable failure) {
    if (!closed) {
      listener.lost(
          request.numericId(),
          failure instanceof BridgeException bridgeFailure
              ? bridgeFailure
              : new BridgeException(ErrorCode.UPSTREAM_ERROR, String.valueOf(failure.getMessage()))
                  .withExecuted(Executed.UNKNOWN));
    }
  }

  private void deliver(RpcMessage message) {
    if (!closed) {
      listener.messages(List.of(message));
    }
  }

  private static Map<String, JsonSlice> members(RpcMessage message) {
    return message.payload() == null ? Map.of() : JsonObjects.members(message.payload());
  }
}
