package dev.mcpbridge.bus;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.io.IOException;
import java.util.Map;

/** Encodes a failure for other nodes; everything except its cause is preserved. */
final class FailureCodec {
  static final WireCodec<BridgeException> CODEC =
      new WireCodec<>(FailureCodec::write, FailureCodec::read);

  private FailureCodec() {}

  private static void write(WireWriter out, BridgeException failure) {
    out.text(failure.code().slug())
        .text(String.valueOf(failure.getMessage()))
        .octet(failure.executed().ordinal())
        .number(failure.retryAfterSeconds())
        .list(
            failure.members().entrySet(),
            (w, member) ->
                w.text(member.getKey())
                    .flag(member.getValue() instanceof JsonSlice)
                    .bytes(json(member.getValue())));
  }

  private static BridgeException read(WireReader in) {
    BridgeException failure =
        new BridgeException(ErrorCode.of(in.text()), in.text())
            .withExecuted(Executed.values()[Math.min(2, in.octet())]);
    long seconds = in.number();
    failure = seconds > 0 ? failure.withRetryAfter(seconds * 1000) : failure;
    for (Map.Entry<String, Object> member : in.list(FailureCodec::member)) {
      failure = failure.with(member.getKey(), member.getValue());
    }
    return failure;
  }

  private static Map.Entry<String, Object> member(WireReader in) {
    String name = in.text();
    boolean isSlice = in.flag();
    byte[] json = in.bytes();
    if (isSlice) {
      return Map.entry(name, JsonSlice.of(json));
    }
    try {
      return Map.entry(name, Json.mapper().readValue(json, Object.class));
    } catch (IOException | NumberFormatException e) {
      return Map.entry(name, JsonSlice.of(json));
    }
  }

  private static byte[] json(Object value) {
    if (value instanceof JsonSlice slice) {
      return slice.toBytes();
    }
    try {
      return Json.mapper().writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      return JsonSlice.NULL.toBytes();
    }
  }
}
