package dev.mcpbridge.http.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TurnEventsTest {

  /** A model that answers at once has ended before its client can ask for the end. */
  @Test
  void textComesBeforeTheEndOfATurnThatHasEndedAlready() throws Exception {
    Vertx vertx = Vertx.vertx();
    List<String> received = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> over = new CompletableFuture<>();
    Context context = vertx.getOrCreateContext();
    TurnEvents events = new TurnEvents(context, (event, data) -> received.add(event));

    context.runOnContext(
        v -> {
          events.onRetry(1, "busy");
          events.onText("Hello.");
          events
              .then(Future.succeededFuture("turn"))
              .onSuccess(received::add)
              .onSuccess(ended -> over.complete(null));
        });
    over.get(10, TimeUnit.SECONDS);

    assertEquals(List.of("retry", "text", "turn"), received);
    vertx.close().await(10, TimeUnit.SECONDS);
  }
}
