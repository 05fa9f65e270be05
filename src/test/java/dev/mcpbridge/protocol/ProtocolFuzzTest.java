package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What clients and servers send as JSON and as event streams. */
class ProtocolFuzzTest {
  private static final int DEPTH = 50;
  private static final int MAX_EVENT = 64;

  /** The gate decides by the tree, the server gets the text: they must say the same. */
  @FuzzTest(maxDuration = "1000h")
  void argumentsThatAreForwardedAreThoseThatAreChecked(byte[] body) throws IOException {
    Arguments arguments;
    try {
      arguments = Arguments.read(body, DEPTH);
    } catch (BridgeException e) {
      assertEquals(ErrorCode.MALFORMED_REQUEST, e.code());
      return;
    }
    byte[] forwarded = arguments.json().toBytes();
    Arguments again = Arguments.read(forwarded, DEPTH);

    assertTrue(forwarded.length <= body.length);
    assertFalse(arguments.json().text().contains("\n"));
    assertArrayEquals(forwarded, again.json().toBytes());
    assertEquals(arguments.tree(), again.tree());
    assertEquals(arguments.tree(), Json.tree(JsonSlice.of(body)));
  }

  @FuzzTest(maxDuration = "1000h")
  void messageHasExactlyOneKindAndItsPartsAreInItsText(byte[] text) {
    RpcMessage message;
    try {
      message = new RpcReader(DEPTH).read(text, 0, text.length);
    } catch (JsonSyntaxException e) {
      return;
    }
    boolean hasId = message.id() != null;
    switch (message.kind()) {
      case REQUEST -> assertTrue(hasId && message.method() != null);
      case NOTIFICATION -> assertTrue(!hasId && message.method() != null);
      default -> assertTrue(message.payload() != null && message.method() == null);
    }
    if (message.payload() != null) {
      assertTrue(message.payload().from() >= 0 && message.payload().to() <= text.length);
    }
    assertTrue(message.numericId() >= -1);
  }

  @FuzzTest(maxDuration = "1000h")
  void eventsAreIndependentOfTheChunksOfAStream(FuzzedDataProvider data) {
    int cut = data.consumeInt(0, 512);
    byte[] stream = data.consumeRemainingAsBytes();
    int at = Math.min(cut, stream.length);

    List<String> whole = events(stream);
    List<String> pieces =
        events(Arrays.copyOf(stream, at), Arrays.copyOfRange(stream, at, stream.length));

    assertEquals(whole, pieces);
  }

  private static List<String> events(byte[]... chunks) {
    List<String> events = new ArrayList<>();
    SseReader reader =
        new SseReader(MAX_EVENT, event -> events.add(event.type() + ": " + event.text()));
    try {
      for (byte[] chunk : chunks) {
        reader.feed(chunk);
        assertTrue(reader.bufferedBytes() <= MAX_EVENT);
      }
    } catch (IllegalStateException tooLong) {
      events.add("too long");
    }
    return events;
  }
}
