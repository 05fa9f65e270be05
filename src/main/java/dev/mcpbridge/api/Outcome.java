package dev.mcpbridge.api;

import java.time.Instant;

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
      return code
          + ": "
          + message
          + "\n"
          + dev.mcpbridge.error.Executed.valueOf(executed.name()).sentence();
    }
  }

  /** Whether a failed call was executed by its server, as far as the bridge knows. */
  enum Executed {
    /** It certainly was not: a repetition is safe. */
    NO,
    /** It may have been. */
    UNKNOWN,
    /** It was, but its answer cannot be used. */
    YES
  }
}
