package dev.mcpbridge.adapter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages in the body of a gRPC response. */
class FrameReaderTest {
  private static final int MAX = 100_000;

  private final List<String> messages = new ArrayList<>();
  private final FrameReader reader =
      new FrameReader(
          MAX,
          bytes -> messages.add(new String(bytes, StandardCharsets.UTF_8)) && bytes.length > 0);

  private static Buffer frame(String text) {
    return head(0, text.length()).appendString(text);
  }

  private static Buffer head(int flag, long length) {
    return Buffer.buffer().appendByte((byte) flag).appendUnsignedInt(length);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 5, 6, 1_000, 8_191, 1_000_000})
  void messagesAreIndependentOfTheChunks(int size) {
    String text = "0123456789".repeat(MAX / 10);
    Buffer body = frame("one").appendBuffer(frame(text)).appendBuffer(frame("three"));

    for (int at = 0; at < body.length(); at += size) {
      assertTrue(reader.feed(body.getBuffer(at, Math.min(body.length(), at + size))));
    }

    assertEquals(List.of("one", text, "three"), messages);
    assertFalse(reader.isIncomplete());
    assertEquals(0, reader.buffered());
  }

  @Test
  void nothingIsReadAfterTheReceiverWantsNoMore() {
    assertFalse(reader.feed(frame("").appendBuffer(frame("more"))));

    assertEquals(List.of(""), messages);
  }

  @Test
  void memoryGrowsWithWhatHasArrived() {
    reader.feed(head(0, MAX).getBuffer(0, 3));
    assertEquals(3, reader.buffered());
    assertTrue(reader.isIncomplete());

    reader.feed(head(0, MAX).getBuffer(3, 5));

    assertTrue(reader.isIncomplete());
    assertTrue(reader.buffered() < MAX / 2, reader.buffered() + " bytes");
    reader.feed(Buffer.buffer("x".repeat(MAX / 2)));
    assertTrue(reader.buffered() >= MAX / 2);
    assertTrue(reader.buffered() <= MAX, reader.buffered() + " bytes");
    assertEquals(List.of(), messages);
  }

  @Test
  void tooLongAndCompressedMessagesAreRefused() {
    assertEquals(
        ErrorCode.RESPONSE_TOO_LARGE,
        assertThrows(BridgeException.class, () -> reader.feed(head(0, MAX + 1))).code());
    assertEquals(
        ErrorCode.UPSTREAM_PROTOCOL_ERROR,
        assertThrows(
                BridgeException.class, () -> new FrameReader(MAX, any -> true).feed(head(1, 1)))
            .code());
    assertEquals(
        ErrorCode.RESPONSE_TOO_LARGE,
        assertThrows(
                BridgeException.class,
                () -> new FrameReader(MAX, any -> true).feed(head(0, 0xFFFFFFFFL)))
            .code());
  }
}
