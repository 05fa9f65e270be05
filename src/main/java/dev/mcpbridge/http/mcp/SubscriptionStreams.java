package dev.mcpbridge.http.mcp;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * {@code subscriptions/listen} (2026-07-28 basic/patterns/subscriptions): a stream that first says
 * what it will tell, and then tells just that, under the id of the request that opened it.
 */
final class SubscriptionStreams {
  private static final int MAX_RESOURCES = 1000;
  private static final long PATIENCE_SECONDS = 10;
  private static final Map<String, String> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put("toolsListChanged", McpMethod.TOOLS_CHANGED);
    TYPES.put("promptsListChanged", McpMethod.PROMPTS_CHANGED);
    TYPES.put("resourcesListChanged", McpMethod.RESOURCES_CHANGED);
  }

  private final CatalogueChanges changes;
  private final ResourceSubscribers watch;
  private final StreamSlots streams;

  SubscriptionStreams(CatalogueChanges changes, ResourceSubscribers watch, StreamSlots streams) {
    this.changes = changes;
    this.watch = watch;
    this.streams = streams;
  }

  /** Opens one; what it asks for and cannot get is not acknowledged. */
  void open(RoutingContext ctx, Inbound message, ServerId endpoint, ToolCatalogue toolCatalogue) {
    JsonSlice wanted = message.params().get("notifications");
    JsonSlice uris =
        wanted == null ? null : JsonObjects.members(wanted).get("resourceSubscriptions");
    if (wanted == null || !wanted.isObject() || uris != null && !uris.isArray()) {
      Replies.json(
          ctx,
          400,
          McpDoor.error(
              message.id(),
              new BridgeException(
                  ErrorCode.INVALID_PARAMS, "params.notifications must say what to listen for")));
      return;
    }
    Map<String, JsonSlice> asked = JsonObjects.members(wanted);
    JsonSlice meta =
        new JsonWriter()
            .beginObject()
            .member(MetaKeys.SUBSCRIPTION, message.id())
            .endObject()
            .toSlice();
    AcknowledgedStream stream = new AcknowledgedStream(streams.open(ctx));
    Caller caller = Caller.of(Callers.of(ctx).name()).withShare(Callers.share(ctx));
    watchAll(asked, toolCatalogue, caller, meta, stream)
        .onSuccess(agreed -> stream.begin(acknowledgement(asked, agreed, meta)));
    Runnable deaf =
        changes.listen(
            (server, methods) -> {
              if (endpoint == null || endpoint.equals(server)) {
                methods.stream()
                    .filter(method -> isAsked(asked, method))
                    .forEach(method -> stream.tell(notification(method, meta)));
              }
            });
    stream.onClose(deaf);
  }

  /** The URIs whose servers have agreed; one that takes too long is not promised. */
  private Future<List<String>> watchAll(
      Map<String, JsonSlice> asked,
      ToolCatalogue toolCatalogue,
      Caller caller,
      JsonSlice meta,
      AcknowledgedStream stream) {
    JsonSlice uris = asked.get("resourceSubscriptions");
    if (uris == null) {
      return Future.succeededFuture(List.of());
    }
    List<String> agreed = new ArrayList<>();
    List<Future<Void>> asks = new ArrayList<>();
    JsonObjects.elements(uris).stream()
        .map(JsonObjects::string)
        .filter(uri -> uri != null && toolCatalogue.resource(uri).isPresent())
        .limit(MAX_RESOURCES)
        .forEach(
            uri ->
                asks.add(
                    watch
                        .listen(
                            toolCatalogue.resource(uri).get(),
                            uri,
                            caller,
                            params -> updated(stream, params, meta))
                        .onSuccess(
                            end -> {
                              if (stream.isBegun()) {
                                end.run();
                              } else {
                                stream.onClose(end);
                                agreed.add(uri);
                              }
                            })
                        .mapEmpty()));
    return Future.join(asks)
        .timeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .transform(done -> Future.succeededFuture(List.copyOf(agreed)));
  }

  private static void updated(AcknowledgedStream stream, JsonSlice params, JsonSlice meta) {
    JsonSlice own = JsonObjects.members(params).get("_meta");
    JsonSlice both =
        own == null
            ? meta
            : JsonObjects.with(
                own, MetaKeys.SUBSCRIPTION, JsonObjects.members(meta).get(MetaKeys.SUBSCRIPTION));
    JsonSlice tagged = JsonObjects.with(params, "_meta", both);
    stream.tell(RpcReplies.notification(McpMethod.RESOURCE_UPDATED, tagged));
  }

  private static JsonSlice acknowledgement(
      Map<String, JsonSlice> asked, List<String> uris, JsonSlice meta) {
    JsonWriter params = new JsonWriter().beginObject().member("_meta", meta);
    params.name("notifications").beginObject();
    TYPES.forEach(
        (type, method) -> {
          if (isAsked(asked, method)) {
            params.member(type, true);
          }
        });
    if (!uris.isEmpty()) {
      params.name("resourceSubscriptions").beginArray();
      uris.forEach(params::value);
      params.endArray();
    }
    params.endObject().endObject();
    return RpcReplies.notification(McpMethod.ACKNOWLEDGED, params.toSlice());
  }

  private static JsonSlice notification(String method, JsonSlice meta) {
    JsonSlice params = new JsonWriter().beginObject().member("_meta", meta).endObject().toSlice();
    return RpcReplies.notification(method, params);
  }

  private static boolean isAsked(Map<String, JsonSlice> asked, String method) {
    return TYPES.entrySet().stream()
        .filter(type -> type.getValue().equals(method))
        .anyMatch(type -> JsonSlice.of("true").equals(asked.get(type.getKey())));
  }
}
