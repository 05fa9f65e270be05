package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.PostReplies;
import dev.mcpbridge.http.mcp.reply.RpcErrors;
import dev.mcpbridge.http.mcp.request.CatalogueChanges;
import dev.mcpbridge.http.mcp.request.ResourceSubscribers;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * {@code subscriptions/listen} (2026-07-28 basic/patterns/subscriptions): a stream that first
 * acknowledges the notifications it covers and then sends them, with the id of the request.
 */
final class SubscriptionStreams {
  private static final int MAX_RESOURCES = 1000;
  private static final long TIMEOUT_SECONDS = 10;
  private static final Map<String, String> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put("toolsListChanged", McpMethod.TOOLS_CHANGED);
    TYPES.put("promptsListChanged", McpMethod.PROMPTS_CHANGED);
    TYPES.put("resourcesListChanged", McpMethod.RESOURCES_CHANGED);
  }

  private final CatalogueChanges changes;
  private final ResourceSubscribers subscribers;
  private final PostReplies replies;

  SubscriptionStreams(
      CatalogueChanges changes, ResourceSubscribers subscribers, PostReplies replies) {
    this.changes = changes;
    this.subscribers = subscribers;
    this.replies = replies;
  }

  /** Opens a stream; unavailable subscriptions are left out of the acknowledgement. */
  void open(
      RoutingContext ctx, ClientMessage message, ServerId endpoint, ToolCatalogue toolCatalogue) {
    JsonSlice filter = message.params().get("notifications");
    JsonSlice uris =
        filter == null ? null : JsonObjects.members(filter).get("resourceSubscriptions");
    if (filter == null || !filter.isObject() || uris != null && !uris.isArray()) {
      RpcErrors.refuse(
          ctx,
          message.id(),
          new BridgeException(
              ErrorCode.INVALID_PARAMS, "params.notifications must be an object of subscriptions"));
      return;
    }
    Map<String, JsonSlice> requested = JsonObjects.members(filter);
    JsonSlice meta =
        new JsonWriter()
            .beginObject()
            .member(MetaKeys.SUBSCRIPTION, message.id())
            .endObject()
            .toSlice();
    AcknowledgedStream stream = new AcknowledgedStream(replies.stream(ctx));
    Caller caller = Caller.of(Callers.of(ctx).name()).withShare(Callers.share(ctx));
    subscribeAll(requested, toolCatalogue, caller, meta, stream)
        .onSuccess(agreed -> stream.acknowledge(acknowledgement(requested, agreed, meta)));
    Runnable unsubscribe =
        changes.listen(
            (server, methods) -> {
              if (endpoint == null || endpoint.equals(server)) {
                methods.stream()
                    .filter(method -> isRequested(requested, method))
                    .forEach(method -> stream.send(notification(method, meta)));
              }
            });
    stream.onClose(unsubscribe);
  }

  /** The URIs that servers accepted within ten seconds. */
  private Future<List<String>> subscribeAll(
      Map<String, JsonSlice> requested,
      ToolCatalogue toolCatalogue,
      Caller caller,
      JsonSlice meta,
      AcknowledgedStream stream) {
    JsonSlice uris = requested.get("resourceSubscriptions");
    if (uris == null) {
      return Future.succeededFuture(List.of());
    }
    List<String> agreed = new ArrayList<>();
    List<Future<Void>> subscriptions = new ArrayList<>();
    JsonObjects.elements(uris).stream()
        .map(JsonObjects::string)
        .filter(uri -> uri != null && toolCatalogue.resource(uri).isPresent())
        .limit(MAX_RESOURCES)
        .forEach(
            uri ->
                subscriptions.add(
                    subscribers
                        .listen(
                            toolCatalogue.resource(uri).get(),
                            uri,
                            caller,
                            params -> updated(stream, params, meta))
                        .onSuccess(
                            end -> {
                              if (stream.isAcknowledged()) {
                                end.run();
                              } else {
                                stream.onClose(end);
                                agreed.add(uri);
                              }
                            })
                        .mapEmpty()));
    return Future.join(subscriptions)
        .timeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .transform(done -> Future.succeededFuture(List.copyOf(agreed)));
  }

  private static void updated(AcknowledgedStream stream, JsonSlice params, JsonSlice meta) {
    JsonSlice own = JsonObjects.members(params).get("_meta");
    JsonSlice merged =
        own == null
            ? meta
            : JsonObjects.with(
                own, MetaKeys.SUBSCRIPTION, JsonObjects.members(meta).get(MetaKeys.SUBSCRIPTION));
    JsonSlice tagged = JsonObjects.with(params, "_meta", merged);
    stream.send(RpcWriter.notification(McpMethod.RESOURCE_UPDATED, tagged).toSlice());
  }

  private static JsonSlice acknowledgement(
      Map<String, JsonSlice> requested, List<String> uris, JsonSlice meta) {
    JsonWriter params = new JsonWriter().beginObject().member("_meta", meta);
    params.name("notifications").beginObject();
    TYPES.forEach(
        (type, method) -> {
          if (isRequested(requested, method)) {
            params.member(type, true);
          }
        });
    if (!uris.isEmpty()) {
      params.name("resourceSubscriptions").beginArray();
      uris.forEach(params::value);
      params.endArray();
    }
    params.endObject().endObject();
    return RpcWriter.notification(McpMethod.ACKNOWLEDGED, params.toSlice()).toSlice();
  }

  private static JsonSlice notification(String method, JsonSlice meta) {
    JsonSlice params = new JsonWriter().beginObject().member("_meta", meta).endObject().toSlice();
    return RpcWriter.notification(method, params).toSlice();
  }

  private static boolean isRequested(Map<String, JsonSlice> requested, String method) {
    return TYPES.entrySet().stream()
        .filter(type -> type.getValue().equals(method))
        .anyMatch(type -> JsonSlice.of("true").equals(requested.get(type.getKey())));
  }
}
