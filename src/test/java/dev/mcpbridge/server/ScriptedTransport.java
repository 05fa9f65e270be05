package dev.mcpbridge.server;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A process that answers the handshake and the lists by itself, and calls on request of the test.
 */
final class ScriptedTransport implements Transport {
  final TransportListener listener;
  private final Context context;
  private final List<JsonSlice> calls = new ArrayList<>();
  final Promise<Void> initialized = Promise.promise();
  final Promise<Void> called = Promise.promise();
  final Promise<Void> ended = Promise.promise();
  final List<JsonSlice> listRequests = new CopyOnWriteArrayList<>();
  final List<String> methods = new CopyOnWriteArrayList<>();
  final List<JsonSlice> subscriptionRequests = new CopyOnWriteArrayList<>();
  boolean holdsSubscriptions;
  boolean isFull;
  boolean isSlow;
  boolean exitsOnDiscovery;

  ScriptedTransport(Context context, TransportListener listener) {
    this.context = context;
    this.listener = listener;
  }

  @Override
  public long send(byte[] line) {
    Map<String, JsonSlice> message = JsonObjects.members(JsonSlice.of(line));
    String method = JsonObjects.string(message.get("method"));
    JsonSlice id = message.get("id");
    methods.add(method);
    if (exitsOnDiscovery && McpMethod.DISCOVER.equals(method)) {
      context.runOnContext(v -> breakDown());
    } else if ("tools/call".equals(method)) {
      if (isFull) {
        return -1;
      }
      calls.add(id);
      called.tryComplete();
    } else if (method.startsWith("resources/") && holdsSubscriptions) {
      subscriptionRequests.add(id);
    } else if ("initialize".equals(method)) {
      answer(
          id,
          RpcMessage.Kind.RESULT,
          "{'protocolVersion':'2025-06-18','capabilities':{'tools':{}}}");
    } else if ("tools/list".equals(method)) {
      listRequests.add(id);
      if (!isSlow) {
        answerList(id, "old");
      }
    } else if ("notifications/initialized".equals(method)) {
      initialized.tryComplete();
    } else if (id != null) {
      answer(id, RpcMessage.Kind.ERROR, "{'code':-32601,'message':'unknown'}");
    }
    return line.length;
  }

  private void answer(JsonSlice id, RpcMessage.Kind kind, String payload) {
    JsonSlice json = JsonSlice.of(payload.replace('\'', '"'));
    context.runOnContext(v -> listener.messages(List.of(new RpcMessage(kind, id, null, json))));
  }

  /** Ends the process. Reported on the context, as by every transport. */
  void end() {
    context.runOnContext(v -> ended.tryComplete());
  }

  void answerList(JsonSlice id, String tool) {
    answer(id, RpcMessage.Kind.RESULT, "{'tools':[{'name':'" + tool + "','inputSchema':{}}]}");
  }

  void notifyToolsChanged() {
    listener.messages(
        List.of(new RpcMessage(RpcMessage.Kind.NOTIFICATION, null, McpMethod.TOOLS_CHANGED, null)));
  }

  void answerSubscription(int number) {
    answer(subscriptionRequests.get(number), RpcMessage.Kind.RESULT, "{}");
  }

  void answerCalls() {
    calls.forEach(id -> answer(id, RpcMessage.Kind.RESULT, "{'content':[]}"));
  }

  void breakDown() {
    ended.tryComplete();
    listener.closed("it broke");
  }

  @Override
  public Future<Void> close() {
    return ended.future();
  }
}
