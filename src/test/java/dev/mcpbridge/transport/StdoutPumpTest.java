package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Memory accounting of a large message between the reading thread and its context. */
class StdoutPumpTest {
  private static final int SIZE = 100_000;

  private final MemoryBudget memory = new MemoryBudget(1 << 20);
  private final Queue<Handler<Void>> turns = new ArrayDeque<>();
  private final List<String> events = new ArrayList<>();
  private boolean isOutOfMemory;

  /** Timers become later turns. */
  private final Vertx vertx =
      Stubs.of(
          Vertx.class,
          (method, arguments) -> {
            Handler<Long> timer = turn(arguments[1]);
            turns.add(v -> timer.handle(1L));
            return 1L;
          });

  private final Context context =
      Stubs.of(
          Context.class,
          (method, arguments) -> {
            if (isOutOfMemory) {
              isOutOfMemory = false;
              throw new OutOfMemoryError("simulated");
            }
            if (method.equals("owner")) {
              return vertx;
            }
            turns.add(turn(arguments[0]));
            return null;
          });

  private final TransportListener listener =
      Stubs.of(
          TransportListener.class,
          (method, arguments) -> {
            events.add(method);
            return null;
          });

  @SuppressWarnings("unchecked")
  private static <T> Handler<T> turn(Object handler) {
    return (Handler<T>) handler;
  }

  private void runPump() {
    String line =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"" + "x".repeat(SIZE) + "\"}}\n";
    new StdoutPump(
            context,
            new ByteArrayInputStream(line.getBytes(StandardCharsets.US_ASCII)),
            new StdioTransport.Limits(1 << 20, 100, 1 << 21, memory),
            listener,
            error -> events.add("ended: " + error))
        .run();
  }

  @Test
  void aLargeMessageIsReleasedOneTurnAfterDelivery() {
    runPump();
    assertTrue(memory.held() > SIZE);
    assertEquals(List.of(), events);

    turns.remove().handle(null);

    assertEquals(List.of("messages"), events);
    assertTrue(memory.held() > SIZE, "the message is not counted while it is on the bus");
    turns.forEach(turn -> turn.handle(null));
    assertEquals(0, memory.held());
    assertEquals(List.of("messages", "ended: null"), events);
  }

  @Test
  void runningOutOfMemoryReleasesTheShareAndEndsTheServer() {
    isOutOfMemory = true;

    runPump();

    assertEquals(0, memory.held());
    turns.forEach(turn -> turn.handle(null));
    assertEquals(
        List.of("ended: a message of the process does not fit into the bridge's memory"), events);
  }
}
