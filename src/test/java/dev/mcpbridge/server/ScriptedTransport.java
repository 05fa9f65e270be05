package dev.mcpbridge.server;

import dev.mcpbridge.fixture.InMemoryTransport;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A process that answers the handshake and the lists by itself, and calls on request of the test.
 */
final class ScriptedTransport extends InMemoryTransport {
  final TransportListener listener;
  private final Context context;
  private final List<JsonSlice> calls = new ArrayList<>();
  final Promise<Void> initialized = Promise.promise();
  final Promise<Void> called = Promise.promise();
  final List<JsonSlice> listRequests = new CopyOnWriteArrayList<>();
  final List<JsonSlice> subscriptionRequests = new CopyOnWriteArrayList<>();
  boolean holdsSubscriptions;
  boolean isFull;
  boolean isSlow;
  boolean exitsOnDiscovery;

  ScriptedTransport(Context context, TransportListener listener) {
    super(context);
    this.context = context;
    this.listener = listener;
    connect(listener);
  }

  @Override
  protected boolean hasRoom(String method) {
    return !isFull || !"tools/call".equals(method);
  }

  @Override
  protected void received(String method, JsonSlice id, JsonSlice params) {
    if (exitsOnDiscovery && McpMethod.DISCOVER.equals(method)) {
      context.runOnContext(v -> breakDown());
    } else if ("tools/call".equals(method)) {
      calls.add(id);
      called.tryComplete();
    } else if (method.startsWith("resources/") && holdsSubscriptions) {
      subscriptionRequests.add(id);
    } else if ("initialize".equals(method)) {
      respond(id.text(), "'result':{'protocolVersion':'2025-06-18','capabilities':{'tools':{}}}");
    } else if ("tools/list".equals(method)) {
      listRequests.add(id);
      if (!isSlow) {
        answerList(id, "old");
      }
    } else if ("notifications/initialized".equals(method)) {
      initialized.tryComplete();
    } else if (id != null) {
      respond(id.text(), "'error':{'code':-32601,'message':'unknown'}");
    }
  }

  void answerList(JsonSlice id, String tool) {
    respond(id.text(), "'result':{'tools':[{'name':'" + tool + "','inputSchema':{}}]}");
  }

  void notifyToolsChanged() {
    listener.messages(
        List.of(new RpcMessage(RpcMessage.Kind.NOTIFICATION, null, McpMethod.TOOLS_CHANGED, null)));
  }

  void answerSubscription(int number) {
    respond(subscriptionRequests.get(number).text(), "'result':{}");
  }

  void answerCalls() {
    calls.forEach(id -> respond(id.text(), "'result':{'content':[]}"));
  }

  /** Ends the connection at once; called on the context. */
  void breakDown() {
    ended.tryComplete();
    listener.closed("it broke");
  }
}
