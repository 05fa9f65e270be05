package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.http.reply.ConfirmationJson;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The response to one turn. {@code tool_responses} is for the program: all details, in the order of
 * the calls. {@code messages} is for the model: in its own format, with instructions for calls that
 * failed. The latter never contain a confirmation token, so no model can approve its own call.
 */
final class ToolResponses {
  private final RoutingContext ctx;
  private final Format format;
  private final List<ModelCalls.Started> calls;
  private final CallIds ids;
  private final List<FunctionResult> answers = new ArrayList<>();

  ToolResponses(RoutingContext ctx, Format format, List<ModelCalls.Started> calls, CallIds ids) {
    this.ctx = ctx;
    this.format = format;
    this.calls = calls;
    this.ids = ids;
  }

  void send() {
    Replies.json(ctx, 200, write().toSlice(), content());
  }

  /** What the response is; null if it may have a secret, such as the token of a confirmation. */
  private Compressed content() {
    boolean areResults =
        calls.stream()
            .map(ModelCalls.Started::outcome)
            .allMatch(end -> end.succeeded() && !end.result().mayHaveSecret());
    return areResults ? Compressed.RESULTS : null;
  }

  private JsonWriter write() {
    JsonWriter out = new JsonWriter(4096).beginObject().member("format", format.id());
    out.name("tool_responses").beginArray();
    for (ModelCalls.Started started : calls) {
      FunctionCall call = started.call();
      out.beginObject().member("tool_call_id", call.id()).member("name", call.name());
      if (started.request() != null) {
        out.member("server_id", started.request().server().name());
      }
      Future<CallOutcome> outcome = started.outcome();
      if (outcome.failed()) {
        failed(out, call, Problems.of(outcome.cause()));
      } else if (outcome.result() instanceof CallOutcome.Completed completed) {
        completed(out, call, completed.result());
      } else {
        pending(out, call, ((CallOutcome.NeedsConfirmation) outcome.result()).pending());
      }
      out.endObject();
    }
    out.endArray();
    return out.member("messages", format.messages(answers)).endObject();
  }

  private void completed(JsonWriter out, FunctionCall call, JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    boolean isError = JsonSlice.of("true").equals(members.get("isError"));
    FunctionResult answer = new FunctionResult(call, isError, ContentBlock.of(members));
    answers.add(answer);
    out.member("status", 200).member("outcome", isError ? "tool_error" : "completed");
    output(out, isError ? "error" : "result", answer.text());
    boolean isPlain =
        answer.blocks().size() == 1 && answer.blocks().get(0) instanceof ContentBlock.Text;
    if (members.containsKey("structuredContent")) {
      out.member("structured_content", members.get("structuredContent"));
    }
    if (members.containsKey("_meta")) {
      out.member("_meta", members.get("_meta"));
    }
    if (!isPlain && members.containsKey("content")) {
      out.member("content", members.get("content"));
    }
  }

  private void failed(JsonWriter out, FunctionCall call, BridgeException failure) {
    String text = text(failure);
    answers.add(FunctionResult.of(call, true, text));
    out.member("status", failure.code().status()).member("outcome", "failed");
    output(out, "error", text);
    out.member("problem", Problems.document(ctx, failure, ids.next()));
  }

  private static String text(BridgeException failure) {
    StringBuilder out = new StringBuilder(failure.code().slug() + ": " + failure.getMessage());
    if (failure.members().get("errors") instanceof List<?> errors) {
      errors.forEach(error -> out.append("\n- ").append(error));
    }
    boolean isRetryable = failure.code().retryable() && failure.executed() == Executed.NO;
    out.append(
        switch (failure.executed()) {
          case NO ->
              isRetryable
                  ? "\nNothing was executed; the same call may succeed later."
                  : "\nNothing was executed.";
          case YES -> "\nIt was executed.";
          case UNKNOWN -> "\nIt may have been executed: do not repeat it before you have checked.";
        });
    return out.toString();
  }

  private void pending(JsonWriter out, FunctionCall call, PendingConfirmation pending) {
    Confirmation confirmation = pending.confirmation();
    String text =
        "confirmation_required: this call has not run. It is of "
            + confirmation.level().description()
            + ", and a human has to approve it first: confirmation "
            + confirmation.id()
            + ", until "
            + Instant.ofEpochMilli(confirmation.expiresAtMillis())
            + ". Do not repeat the call; tell the user that it is waiting for approval.";
    answers.add(FunctionResult.of(call, false, text));
    out.member("status", 202).member("outcome", "confirmation_required");
    output(out, "result", text);
    out.member("confirmation", ConfirmationJson.pending(pending));
  }

  private static void output(JsonWriter out, String name, String text) {
    out.name("output").beginObject().member(name, text).endObject();
  }
}
