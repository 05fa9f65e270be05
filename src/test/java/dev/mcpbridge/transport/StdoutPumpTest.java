package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** What is counted of a large message on its way to its context, turn by turn. */
class StdoutPumpTest {
  private static final int SIZE = 100_000;

  private final MemoryBudget memory = new MemoryBudget(1 << 20);
  private final Queue<Handler<Void>> turns = new ArrayDeque<>();
  private final List<String> heard = new ArrayList<>();
  private boolean isOutOfMemory;

  private final Context context =
      Stubs.of(
          Context.class,
          (method, arguments) -> {
            if (isOutOfMemory) {
              isOutOfMemory = false;
              throw new OutOfMemoryError("for once");
            }
            turns.add(turn(arguments[0]));
            return null;
          });

  private final TransportListener listener =
      Stubs.of(
          TransportListener.class,
          (method, arguments) -> {
            heard.add(method);
            return null;
          });

  @SuppressWarnings("unchecked")
  private static Handler<Void> turn(Object handler) {
    return (Handler<Void>) handler;
  }

  private void pump() {
    String line =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"" + "x".repeat(SIZE) + "\"}}\n";
    new StdoutPump(
            context,
            new ByteArrayInputStream(line.getBytes(StandardCharsets.US_ASCII)),
            new StdioTransport.Limits(1 << 20, 100, 1 << 21, memory),
            listener,
            why -> heard.add("ended: " + why))
        .run();
  }

  @Test
  void aLargeMessageKeepsItsRoomUntilTheTurnAfterItsOwn() {
    pump();
    assertTrue(memory.held() > SIZE);
    assertEquals(List.of(), heard);

    turns.remove().handle(null);

    assertEquals(List.of("messages"), heard);
    assertTrue(memory.held() > SIZE, "nothing is counted while the answer is on the bus");
    turns.forEach(turn -> turn.handle(null));
    assertEquals(0, memory.held());
    assertEquals(List.of("messages", "ended: null"), heard);
  }

  @Test
  void whoseTurnFindsNoMemoryGivesItsRoomBackAndEndsItsServer() {
    isOutOfMemory = true;

    pump();

    assertEquals(0, memory.held());
    turns.forEach(turn -> turn.handle(null));
    assertEquals(
        List.of("ended: a message of the process does not fit into the bridge's memory"), heard);
  }
}
