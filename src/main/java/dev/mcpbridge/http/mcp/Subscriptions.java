package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * {@code subscriptions/listen} (2026-07-28 basic/patterns/subscriptions): a stream that first says
 * what it will tell, and then tells just that, under the id of the request that opened it.
 */
final class Subscriptions {
  private static final Map<String, String> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put("toolsListChanged", McpMethod.TOOLS_CHANGED);
    TYPES.put("promptsListChanged", McpMethod.PROMPTS_CHANGED);
    TYPES.put("resourcesListChanged", McpMethod.RESOURCES_CHANGED);
  }

  private final CatalogueChanges changes;
  private final StreamSlots streams;

  Subscriptions(CatalogueChanges changes, StreamSlots streams) {
    this.changes = changes;
    this.streams = streams;
  }

  void open(RoutingContext ctx, Inbound message, ServerId endpoint) {
    JsonSlice wanted = message.params().get("notifications");
    if (wanted == null || !wanted.isObject()) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS, "params.notifications must say what to listen for");
    }
    Map<String, JsonSlice> asked = JsonObjects.members(wanted);
    JsonSlice meta =
        new JsonWriter()
            .beginObject()
            .member(MetaKeys.SUBSCRIPTION, message.id())
            .endObject()
            .toSlice();
    EventStream stream = streams.open(ctx);
    stream.send("message", acknowledgement(asked, meta));
    Runnable deaf =
        changes.listen(
            (server, methods) -> {
              if (endpoint == null || endpoint.equals(server)) {
                methods.stream()
                    .filter(method -> isAsked(asked, method))
                    .forEach(method -> stream.send("message", notification(method, meta)));
              }
            });
    stream.onClose(deaf);
  }

  private static JsonSlice acknowledgement(Map<String, JsonSlice> asked, JsonSlice meta) {
    JsonWriter params = new JsonWriter().beginObject().member("_meta", meta);
    params.name("notifications").beginObject();
    TYPES.forEach(
        (type, method) -> {
          if (isAsked(asked, method)) {
            params.member(type, true);
          }
        });
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
