package dev.mcpbridge.http.agent;

import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.BiConsumer;

/**
 * The events of a turn: reported on the thread of the model, sent on the context of the client.
 *
 * @param client sends an event with its name and data
 */
record TurnEvents(Context context, BiConsumer<String, JsonSlice> client)
    implements ChatModel.ModelListener {
  @Override
  public void onText(String text) {
    send("text", new JsonWriter().beginObject().member("text", text));
  }

  @Override
  public void onRetry(long millis, String why) {
    send("retry", new JsonWriter().beginObject().member("after_ms", millis).member("reason", why));
  }

  private void send(String event, JsonWriter data) {
    JsonSlice json = data.endObject().toSlice();
    context.runOnContext(v -> client.accept(event, json));
  }

  /**
   * The end of a turn, after its events. They are on their way to the context when the model's
   * thread has ended, but its future may already be complete for who asks on the context.
   */
  <T> Future<T> then(Future<T> turn) {
    Promise<T> ended = Promise.promise();
    turn.onComplete((reply, failure) -> context.runOnContext(v -> ended.complete(reply, failure)));
    return ended.future();
  }
}
