package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.wire.WireReader.WireException;
import java.util.List;
import java.util.function.Function;

/** Messages of other nodes, and records in the cluster's store. */
class WireFuzzTest {
  @FuzzTest(maxDuration = "1000h")
  void callIsReadOrRefused(byte[] bytes) {
    requireStable(WireCodecs.CALL, bytes, WireFuzzTest::parts);
  }

  @FuzzTest(maxDuration = "1000h")
  void confirmationIsReadOrRefused(byte[] bytes) {
    requireStable(
        WireCodecs.CONFIRMATION, bytes, held -> List.of(held.digest(), parts(held.call())));
  }

  @FuzzTest(maxDuration = "1000h")
  void failureIsReadOrRefused(byte[] bytes) {
    requireStable(
        WireCodecs.FAILURE,
        bytes,
        failure -> List.of(failure.code(), failure.getMessage(), failure.executed()));
  }

  @FuzzTest(maxDuration = "1000h")
  void eventIsReadOrRefused(byte[] bytes) {
    requireStable(WireCodecs.EVENT, bytes, event -> event);
  }

  /** All but the time that is left, which passes between two writings. */
  private static List<?> parts(Call call) {
    return List.of(call.id(), call.server(), call.target(), call.arguments().text(), call.caller());
  }

  /** What is read is written as bytes that are read as the same again. */
  private static <T> void requireStable(
      WireCodec<T> codec, byte[] bytes, Function<T, Object> parts) {
    T value;
    try {
      value = codec.of(bytes);
    } catch (WireException | BridgeException refused) {
      return;
    }
    assertEquals(parts.apply(value), parts.apply(codec.of(codec.bytes(value))));
  }
}
