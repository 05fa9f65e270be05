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
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * An MCP server of 2025-11-25 in front of a {@link Backend}: what a session sends is answered here.
 * The backend is opened by the handshake, so that it has the time of a start and no more. Confined
 * to its context; answers come in a later turn of it, as from any server.
 */
public final class AdaptedTransport implements Transport {
  private static final int MAX_DEPTH = 1000;
  private static final long CLOSE_MILLIS = 1_000;
  private static final JsonSlice EMPTY_LIST = JsonSlice.of("[]");

  private final Context context;
  private final Backend backend;
  private final TransportListener listener;
  private final RpcReader reader = new RpcReader(MAX_DEPTH);
  private final Set<String> taken = new HashSet<>();
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
      taken.add(message.id().text());
      context.runOnContext(v -> answer(message));
    } else if (McpMethod.CANCELLED.equals(message.method())) {
      giveUp(members(message).get("requestId"));
    }
    return 0;
  }

  @Override
  public Future<Void> close() {
    boolean isFirst = !closed;
    closed = true;
    List.copyOf(running.values()).forEach(call -> call.giveUp().run());
    Future<Void> late = context.owner().timer(CLOSE_MILLIS).mapEmpty();
    return Future.any(backend.close(), late)
        .<Void>mapEmpty()
        .onComplete(
            gone -> {
              if (isFirst) {
                listener.closed("stopped");
              }
            });
  }

  private RpcMessage read(byte[] line) {
    try {
      return reader.read(line, 0, line.length);
    } catch (JsonSyntaxException e) {
      throw new IllegalStateException("a session writes only messages", e);
    }
  }

  private void answer(RpcMessage request) {
    if (!taken.remove(request.id().text()) || closed) {
      return;
    }
    outcome(request)
        .onComplete(
            result -> hear(new RpcMessage(RpcMessage.Kind.RESULT, request.id(), null, result)),
            failure -> lost(request, failure));
  }

  private Future<JsonSlice> outcome(RpcMessage request) {
    return switch (request.method()) {
      case McpMethod.INITIALIZE ->
          backend.open(new Opening(request.numericId())).map(AdaptedTransport::introduction);
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
                  ErrorCode.METHOD_NOT_FOUND, "Not offered here: " + request.method()));
    };
  }

  private Future<JsonSlice> call(RpcMessage request) {
    Map<String, JsonSlice> params = members(request);
    JsonSlice meta = params.getOrDefault("_meta", JsonSlice.EMPTY_OBJECT);
    Backend.RunningCall call =
        backend.call(
            new Backend.Invocation(
                JsonObjects.string(params.get("name")),
                params.getOrDefault("arguments", JsonSlice.EMPTY_OBJECT),
                JsonObjects.string(JsonObjects.members(meta).get(MetaKeys.AUTHORIZATION))));
    String id = request.id().text();
    running.put(id, call);
    return call.result().onComplete(done -> running.remove(id));
  }

  private void giveUp(JsonSlice id) {
    if (id == null) {
      return;
    }
    taken.remove(id.text());
    Backend.RunningCall call = running.remove(id.text());
    if (call != null) {
      call.giveUp().run();
    }
  }

  private static JsonSlice introduction(Backend.Identity identity) {
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

  private final class Opening implements Backend.Listener {
    private final long requestId;

    Opening(long requestId) {
      this.requestId = requestId;
    }

    @Override
    public void changed() {
      hear(
          new RpcMessage(
              RpcMessage.Kind.NOTIFICATION, null, McpMethod.TOOLS_CHANGED, JsonSlice.EMPTY_OBJECT));
    }

    @Override
    public <T> Future<T> unhurried(Supplier<Future<T>> work) {
      listener.works(requestId, true);
      return work.get().onComplete(done -> listener.works(requestId, false));
    }
  }

  private void lost(RpcMessage request, Throwable failure) {
    if (!closed) {
      listener.lost(
          request.numericId(),
          failure instanceof BridgeException known
              ? known
              : new BridgeException(ErrorCode.UPSTREAM_ERROR, String.valueOf(failure.getMessage()))
                  .withExecuted(Executed.UNKNOWN));
    }
  }

  private void hear(RpcMessage message) {
    if (!closed) {
      listener.messages(List.of(message));
    }
  }

  private static Map<String, JsonSlice> members(RpcMessage message) {
    return message.payload() == null ? Map.of() : JsonObjects.members(message.payload());
  }
}
