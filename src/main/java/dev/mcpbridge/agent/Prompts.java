package dev.mcpbridge.agent;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** What a model is told apart from the user's words. Stateless. */
final class Prompts {
  /** Follows the last results of a question for which no more calls are made. */
  static final String FINAL =
      "No more tools can be called for this question. Answer with what was found so far and state"
          + " what is missing.";

  private Prompts() {}

  /** The system instructions of a conversation. */
  static String instructions(ResultFormatter resultFormatter) {
    return """
        You help a user with tools. The current time is %s.
        Call tools where they help, several at once where they do not depend on each other. Never \
        claim that something was done unless a tool's result confirms it. If a call failed, say so; \
        if it is not known whether it was executed, check before you repeat it. Some calls wait for \
        the user's approval; a refusal is final. Answer in Markdown.
        %s"""
        .formatted(
            ZonedDateTime.now().format(DateTimeFormatter.ISO_OFFSET_DATE_TIME),
            resultFormatter.markInstructions());
  }
}
