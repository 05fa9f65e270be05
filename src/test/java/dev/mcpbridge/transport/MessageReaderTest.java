package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.protocol.RpcMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Handling of messages for which there is no memory. */
class MessageReaderTest {
  private final List<String> events = new ArrayList<>();
  private final TransportListener listener =
      Stubs.of(
          TransportListener.class,
          (method, arguments) -> {
            if (method.equals("messages")) {
              ((List<?>) arguments[0])
                  .forEach(message -> events.add(describe((RpcMessage) message)));
            } else {
              BridgeException failure = (BridgeException) arguments[1];
              events.add(method + " " + arguments[0] + " " + failure.executed());
            }
            return null;
          });

  private static String describe(RpcMessage message) {
    return message.kind() + " " + (message.id() == null ? "" : message.numericId());
  }

  @Test
  void onlyLargeResponsesAreDroppedFromABatch() throws Exception {
    StdioTransport.Limits limits =
        new StdioTransport.Limits(1 << 20, 100, 1 << 21, new MemoryBudget(1));
    MessageReader reader =
        new MessageReader(limits, listener, (bytes, callback, overflow) -> overflow.run());
    String large = "x".repeat(MemoryBudget.LARGE);

    byte[] bytes =
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
                + "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\""
                + large
                + "\"}}\n"
                + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"a\":\""
                + large
                + "\"}}\n"
                + "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,\"message\":\"m\"}}\n")
            .getBytes(StandardCharsets.UTF_8);
    reader.feed(bytes, bytes.length);

    assertEquals(List.of("RESULT 1", "lost 2 YES", "NOTIFICATION ", "ERROR 3"), events);
  }
}
