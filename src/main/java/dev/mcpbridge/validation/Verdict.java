package dev.mcpbridge.validation;

import java.util.List;

/** What a validation came to. */
public sealed interface Verdict {
  Verdict FITS = new Fits();

  /** The value fits the schema. */
  record Fits() implements Verdict {}

  /**
   * @param errors what does not fit, each with its place; at least one
   */
  record Misfit(List<String> errors) implements Verdict {}

  /**
   * Nobody knows.
   *
   * @param why a sentence: the schema cannot be used, or the budget did not suffice
   * @param overBudget whether it was the budget
   */
  record Unchecked(String why, boolean overBudget) implements Verdict {}
}
