package dev.mcpbridge.model;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CancellationTokenTest {
  private final CancellationToken token = new CancellationToken();
  private final List<String> notified = new ArrayList<>();

  @Test
  void repeatedCancellationIsReportedOnce() {
    token.onCancel(reason -> notified.add(reason.getMessage()));

    token.cancel("the client disconnected");
    token.cancel("the caller has cancelled the call");

    assertEquals(List.of("the client disconnected"), notified);
  }

  @Test
  void onlyThePlaceThatHasTheCallIsNotified() {
    token.onCancel(reason -> notified.add("queue"));
    token.onCancel(reason -> notified.add("server"));

    token.cancel("over");

    assertEquals(List.of("server"), notified);
  }

  @Test
  void placeThatReceivesACancelledCallIsNotifiedAtOnce() {
    token.cancel("over");

    token.onCancel(reason -> notified.add("server"));

    assertEquals(List.of("server"), notified);
  }

  @Test
  void checkFailsOnceTheCallIsCancelled() {
    assertDoesNotThrow(token::check);

    token.cancel("over");

    assertEquals(ErrorCode.CANCELLED, assertThrows(BridgeException.class, token::check).code());
  }
}
