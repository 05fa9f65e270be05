package dev.mcpbridge.call;

import dev.mcpbridge.bus.NodeCalls;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonWriter;
import java.time.Instant;

/**
 * What others may learn of one run of a call.
 *
 * @param door null if it is not known
 * @param target with an abbreviated name
 * @param startedMillis by the wall clock
 * @param outcome null while it runs
 */
record CallSummary(
    String id,
    String caller,
    String door,
    ServerId server,
    Target target,
    long startedMillis,
    Outcome outcome) {
  /**
   * How a run has ended.
   *
   * @param code of a failure; null for others
   */
  record Outcome(String word, Executed executed, ErrorCode code, long millis) {}

  /** Its JSON. */
  NodeCalls.Entry entry() {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("call_id", id)
            .member("server_id", server.name())
            .member("kind", target.kind().noun())
            .member("name", target.name())
            .member("caller", caller)
            .member("door", door)
            .member("started_at", Instant.ofEpochMilli(startedMillis).toString())
            .member("state", outcome == null ? "running" : "ended");
    if (outcome != null) {
      out.member("ms", outcome.millis)
          .member("outcome", outcome.word)
          .member("executed", outcome.executed.apiName());
      if (outcome.code != null) {
        out.member("code", outcome.code.slug());
      }
    }
    return new NodeCalls.Entry(startedMillis, out.endObject().toSlice());
  }
}
