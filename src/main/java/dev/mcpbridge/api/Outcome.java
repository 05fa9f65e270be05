package dev.mcpbridge.api;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How a call of a tool ended. Immutable. */
public sealed interface Outcome {
  /** What a model should read: the content, or what has happened instead. */
  String text();

  /**
   * The server has answered.
   *
   * @param isError whether the tool reports that it has failed
   * @param text the content of the result for people and models
   * @param result the whole result of {@code tools/call}, as JSON text
   */
  record Completed(boolean isError, String text, String result) implements Outcome {}

  /**
   * The call waits for the decision of a human and has not run. {@link Tools#decide} tells the
   * decision.
   *
   * @param id of the confirmation
   * @param arguments exactly what the server will get, as JSON text: to be shown to the human
   * @param riskLevel from 1 to 3
   * @param token proves that this caller has asked; null if another caller has to decide
   */
  record ConfirmationRequired(
      String id,
      String server,
      String tool,
      String arguments,
      int riskLevel,
      Instant expiresAt,
      String token)
      implements Outcome {
    @Override
    public String text() {
      return "confirmation_required: a human has to approve this call, confirmation "
          + id
          + ". It has not run: do not repeat it.";
    }

    /** Without the token, which is secret. */
    @Override
    public String toString() {
      return "ConfirmationRequired[id=" + id + ", server=" + server + ", tool=" + tool + "]";
    }
  }

  /** A human has decided against the call, which has not run. */
  record Rejected() implements Outcome {
    @Override
    public String text() {
      return "The call was rejected by a human. It has not run: do not repeat it.";
    }
  }

  /**
   * The call has failed without a result.
   *
   * @param code as {@code code} in the problem documents of the HTTP API
   */
  record Failed(String code, String message, Executed executed) implements Outcome {
    @Override
    public String text() {
      return code + ": " + message + "\n" + executed.sentence;
    }
  }

  /** Whether a failed call was executed by its server, as far as the bridge knows. */
  enum Executed {
    /** It certainly was not: a repetition is safe. */
    NO("Nothing was executed."),
    /** It may have been. */
    UNKNOWN("Whether it was executed is not known: check before you repeat it."),
    /** It was, but its answer cannot be used. */
    YES("It was executed.");

    private final String sentence;

    Executed(String sentence) {
      this.sentence = sentence;
    }
  }

  /** The outcome of a call that did not fail. */
  static Outcome of(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed completed
        ? completed(completed.result())
        : held(((CallOutcome.NeedsConfirmation) outcome).pending());
  }

  private static Outcome completed(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    JsonSlice isError = members.get("isError");
    return new Completed(
        isError != null && isError.text().equals("true"),
        ContentBlock.of(members).stream()
            .map(ContentBlock::words)
            .collect(Collectors.joining("\n")),
        result.text());
  }

  private static Outcome held(PendingConfirmation pending) {
    return new ConfirmationRequired(
        pending.confirmation().id(),
        pending.confirmation().call().server().name(),
        pending.confirmation().call().target().name(),
        pending.confirmation().call().arguments().text(),
        pending.confirmation().level().number(),
        Instant.ofEpochMilli(pending.confirmation().expiresAtMillis()),
        pending.token());
  }

  /** The outcome of a call that failed. */
  static Outcome of(Throwable failure) {
    BridgeException known = BridgeException.of(failure);
    return new Failed(
        known.code().slug(),
        known.getMessage(),
        Executed.valueOf(known.executed().apiName().toUpperCase(Locale.ROOT)));
  }
}
