package dev.mcpbridge.validation;

import java.util.List;

/** The result of a validation. */
public sealed interface Verdict {
  Verdict FITS = new Fits();

  /** The value matches the schema. */
  record Fits() implements Verdict {}

  /**
   * @param errors the mismatches with their locations; at least one
   */
  record Mismatch(List<String> errors) implements Verdict {}

  /**
   * The value was not checked completely.
   *
   * @param reason the reason: the schema is unusable, or the budget was exceeded
   * @param overBudget whether the budget was exceeded
   */
  record Unchecked(String reason, boolean overBudget) implements Verdict {}
}
