package dev.mcpbridge.validation;

import com.networknt.schema.ExecutionConfig;
import com.networknt.schema.ExecutionContext;
import java.util.Locale;

/**
 * The state of one validation: its remaining budget, and whether an alternative of a union ({@code
 * oneOf}, {@code anyOf}) is being evaluated. Used by one thread.
 *
 * <p>All keywords of a schema have to hold, so a keyword after a failed one cannot change the
 * verdict. It is skipped within an alternative, whose errors are not reported, and elsewhere once
 * enough errors are recorded.
 */
final class ValidationRun extends ExecutionContext {
  static final int MAX_ERRORS = 20;

  private static final ExecutionConfig CONFIG =
      ExecutionConfig.builder().locale(Locale.ROOT).formatAssertionsEnabled(false).build();

  private final WorkBudget budget;
  private boolean inAlternative;

  ValidationRun(WorkBudget budget) {
    super(CONFIG);
    this.budget = budget;
  }

  void spend(long steps) {
    budget.spend(steps);
  }

  boolean isDecided() {
    return getErrors().size() >= (inAlternative ? 1 : MAX_ERRORS);
  }

  boolean isInAlternative() {
    return inAlternative;
  }

  /** Returns the previous state, for {@link #leave}. */
  boolean enterAlternatives() {
    boolean previous = inAlternative;
    inAlternative = true;
    return previous;
  }

  void leave(boolean previous) {
    inAlternative = previous;
  }
}
