package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.request.CatalogueChanges;
import dev.mcpbridge.http.mcp.request.ResourceSubscribers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * {@code subscriptions/listen} (2026-07-28 basic/patterns/subscriptions): a stream that first
 * acknowledges the notifications it covers and then sends them, with the id of the request. Earlier
 * notifications are buffered until the acknowledgement, at most 1000.
 */
final class SubscriptionStream {
  private static final int MAX_BUFFERED = 1000;
  private static final int MAX_RESOURCES = 1000;
  private static final long TIMEOUT_MILLIS = 10_000;
  private static final List<String> CHANGES =
      List.of(McpMethod.TOOLS_CHANGED, McpMethod.PROMPTS_CHANGED, McpMethod.RESOURCES_CHANGED);

  private final EventStream stream;
  private final JsonSlice id;
  private final Map<String, JsonSlice> requested;
  private final List<String> agreed = new ArrayList<>();

  /** Null once the subscription is acknowledged. */
  private List<JsonSlice> buffered = new ArrayList<>();

  /**
   * @param requested as {@link #requested} returns it
   */
  SubscriptionStream(EventStream stream, JsonSlice id, Map<String, JsonSlice> requested) {
    this.stream = stream;
    this.id = id;
    this.requested = requested;
  }

  /** The notifications that a request asks for. */
  static Map<String, JsonSlice> requested(ClientMessage request) {
    JsonSlice filter = request.params().getOrDefault("notifications", JsonSlice.NULL);
    Map<String, JsonSlice> requested = JsonObjects.members(filter);
    JsonSlice uris = requested.get("resourceSubscriptions");
    if (!filter.isObject() || uris != null && !uris.isArray()) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS, "params.notifications must be an object of subscriptions");
    }
    return requested;
  }

  /** Subscribes to resources; acknowledges those that servers accept within ten seconds. */
  void subscribe(ResourceSubscribers subscribers, ToolCatalogue toolCatalogue, Caller caller) {
    JsonSlice uris = requested.getOrDefault("resourceSubscriptions", JsonSlice.NULL);
    List<Future<Runnable>> subscriptions =
        JsonObjects.elements(uris).stream()
            .map(JsonObjects::string)
            .filter(Objects::nonNull)
            .limit(MAX_RESOURCES)
            .map(
                uri ->
                    subscribers
                        .listen(toolCatalogue, uri, caller, this::updated)
                        .onSuccess(end -> agreed(uri, end)))
            .toList();
    TimeLimit.of(TIMEOUT_MILLIS, Future.join(subscriptions)).onComplete(done -> acknowledge());
  }

  /** Follows changes of catalogues until the stream ends. */
  void follow(CatalogueChanges changes, Selection endpoint, Principal caller) {
    Runnable unsubscribe =
        changes.listen(
            change -> {
              if (endpoint.mayContain(change.server())) {
                change.methods(caller, endpoint).stream()
                    .filter(this::isRequested)
                    .forEach(this::changed);
              }
            });
    stream.onClose(unsubscribe);
  }

  private void agreed(String uri, Runnable end) {
    if (buffered == null) {
      end.run();
    } else {
      stream.onClose(end);
      agreed.add(uri);
    }
  }

  private void acknowledge() {
    JsonWriter params = new JsonWriter().beginObject().member("_meta", meta(null));
    params.name("notifications").beginObject();
    CHANGES.stream()
        .filter(this::isRequested)
        .forEach(method -> params.member(member(method), true));
    if (!agreed.isEmpty()) {
      params.name("resourceSubscriptions").beginArray();
      agreed.forEach(params::value);
      params.endArray();
    }
    params.endObject().endObject();
    List<JsonSlice> pending = buffered;
    buffered = null;
    send(McpMethod.ACKNOWLEDGED, params.toSlice());
    pending.forEach(message -> stream.send("message", message));
  }

  private void updated(JsonSlice params) {
    JsonSlice meta = meta(JsonObjects.members(params).get("_meta"));
    send(McpMethod.RESOURCE_UPDATED, JsonObjects.with(params, "_meta", meta));
  }

  private void changed(String method) {
    send(method, new JsonWriter().beginObject().member("_meta", meta(null)).endObject().toSlice());
  }

  private JsonSlice meta(JsonSlice own) {
    return JsonObjects.with(own == null ? JsonSlice.EMPTY_OBJECT : own, MetaKeys.SUBSCRIPTION, id);
  }

  private void send(String method, JsonSlice params) {
    JsonSlice message = RpcWriter.notification(method, params).toSlice();
    if (buffered == null) {
      stream.send("message", message);
    } else if (buffered.size() < MAX_BUFFERED) {
      buffered.add(message);
    }
  }

  private boolean isRequested(String method) {
    return JsonSlice.of("true").equals(requested.get(member(method)));
  }

  /** The member that requests a notification, such as {@code toolsListChanged}. */
  private static String member(String method) {
    return method.split("/")[1] + "ListChanged";
  }
}
