package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.wire.WireReader.WireException;

/** Messages of other nodes, and records in the cluster's store. */
class WireFuzzTest {
  @FuzzTest(maxDuration = "1h")
  void callIsReadOrRefused(byte[] bytes) {
    requireStable(WireCodecs.CALL, bytes);
  }

  @FuzzTest(maxDuration = "1h")
  void confirmationIsReadOrRefused(byte[] bytes) {
    requireStable(WireCodecs.CONFIRMATION, bytes);
  }

  @FuzzTest(maxDuration = "1h")
  void failureIsReadOrRefused(byte[] bytes) {
    requireStable(WireCodecs.FAILURE, bytes);
  }

  @FuzzTest(maxDuration = "1h")
  void eventIsReadOrRefused(byte[] bytes) {
    requireStable(WireCodecs.EVENT, bytes);
  }

  /** What is read is written as bytes that are read as the same again. */
  private static <T> void requireStable(WireCodec<T> codec, byte[] bytes) {
    T value;
    try {
      value = codec.of(bytes);
    } catch (WireException | BridgeException refused) {
      return;
    }
    byte[] written = codec.bytes(value);
    assertArrayEquals(written, codec.bytes(codec.of(written)));
  }
}
