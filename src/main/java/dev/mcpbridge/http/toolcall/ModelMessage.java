package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The calls in a message of a model, and its format. */
record ModelMessage(Format format, List<FunctionCall> calls) {

  /** Detects the format by the shape of the body; an empty list is the same in every format. */
  static ModelMessage parse(JsonSlice body, Optional<Format> requested) {
    for (Format format : requested.map(List::of).orElseGet(() -> List.of(Format.values()))) {
      Optional<List<FunctionCall>> calls = format.calls(body);
      if (calls.isPresent()) {
        return new ModelMessage(format, calls.get());
      }
    }
    throw new BridgeException(
        ErrorCode.INVALID_ARGUMENTS,
        "Expected an assistant message with 'tool_calls', a list of tool calls, or a response of"
            + " the Responses, Messages or generateContent API; found "
            + (body.isArray() ? "a list of another type" : "another message"));
  }

  /** Adds ids by position to calls without one, except for Gemini, which matches calls by order. */
  List<FunctionCall> callsWithIds() {
    List<FunctionCall> identified = new ArrayList<>();
    for (FunctionCall call : calls) {
      boolean needsId = call.id() == null && format != Format.GEMINI;
      String id = needsId ? "call_" + identified.size() : call.id();
      identified.add(new FunctionCall(id, call.name(), call.arguments()));
    }
    return identified;
  }
}
