package dev.mcpbridge.http.agent;

import dev.mcpbridge.agent.ModelTurn;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.trace.Tracer;
import java.io.IOException;

/** A turn on a worker thread, which its client can leave. Thread-safe. */
final class RunningTurn {
  private final Models models;
  private final Tracer tracer;
  private Thread worker;
  private boolean isCancelled;

  RunningTurn(Models models, Tracer tracer) {
    this.models = models;
    this.tracer = tracer;
  }

  /**
   * Requests the reply, and writes it as JSON, which may be long; blocks.
   *
   * @param tools a list as of {@code GET /toolcall/tools}
   * @param callsTo where the client posts the calls
   * @throws InterruptedException if the turn was cancelled
   */
  JsonSlice run(
      ModelTurn turn,
      JsonSlice tools,
      String callsTo,
      ChatModel.ModelListener modelListener,
      Envelope parent)
      throws InterruptedException, IOException {
    begin();
    ChatModel model = null;
    try {
      model = models.take();
      return turn.run(model, Json.exactTree(tools).path("tools"), modelListener, tracer, parent)
          .json(callsTo);
    } finally {
      if (model != null) {
        models.giveBack(model);
      }
      end();
    }
  }

  private synchronized void begin() throws InterruptedException {
    if (isCancelled) {
      throw new InterruptedException();
    }
    worker = Thread.currentThread();
  }

  /** The thread is used for other turns: an interrupt that comes late must not reach them. */
  private synchronized void end() {
    worker = null;
    Thread.interrupted();
  }

  synchronized void cancel() {
    isCancelled = true;
    if (worker != null) {
      worker.interrupt();
    }
  }
}
