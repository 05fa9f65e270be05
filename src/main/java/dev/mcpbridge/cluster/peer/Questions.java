package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.cluster.peer.Message.Kind;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The questions that one node has not answered yet. Confined to the bridge's context. */
final class Questions {
  private final Map<Long, Question> open = new HashMap<>();
  private long count;

  /**
   * @param after the last piece that was sent before it
   */
  private record Question(Promise<byte[]> promise, long untilNanos, Frame.Position after) {}

  long nextId() {
    return ++count;
  }

  Future<byte[]> sent(long id, long untilNanos, Frame.Position after) {
    Promise<byte[]> promise = Promise.promise();
    open.put(id, new Question(promise, untilNanos, after));
    return promise.future();
  }

  /** An answer or a failure has come. */
  void answered(Message message) {
    Question question = open.remove(message.id());
    if (question != null && message.kind() == Kind.ANSWER) {
      question.promise().tryComplete(message.body());
    } else if (question != null) {
      question.promise().tryFail(new RemoteFailure(message.body()));
    }
  }

  /** The failure of a question that cannot be sent. */
  static BridgeException unreachable(String node) {
    return new BridgeException(ErrorCode.NODE_UNREACHABLE, "Node " + node + " is not connected")
        .withRetryAfter(1_000);
  }

  void failLate(String node, long now) {
    List<Question> late = new ArrayList<>();
    open.values().removeIf(each -> each.untilNanos() - now <= 0 && late.add(each));
    late.forEach(
        each ->
            each.promise()
                .tryFail(
                    new BridgeException(
                            ErrorCode.DEADLINE_EXCEEDED, "Node " + node + " did not answer in time")
                        .withExecuted(Executed.UNKNOWN)));
  }

  void failAll(String node, String reason) {
    List<Question> lost = List.copyOf(open.values());
    open.clear();
    fail(lost, node, reason);
  }

  /** Fails the questions that the other node may have received before it dropped its answers. */
  void failUpTo(Frame.Position base, String node, String reason) {
    List<Question> lost = new ArrayList<>();
    open.values().removeIf(each -> each.after().isBefore(base) && lost.add(each));
    fail(lost, node, reason);
  }

  private static void fail(List<Question> lost, String node, String reason) {
    lost.forEach(
        each ->
            each.promise()
                .tryFail(
                    new BridgeException(
                            ErrorCode.NODE_LOST,
                            "Node " + node + " was lost while the call ran there: " + reason)
                        .withExecuted(Executed.UNKNOWN)
                        .withRetryAfter(1_000)));
  }
}
