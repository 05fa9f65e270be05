package dev.mcpbridge.validation;

import com.networknt.schema.ExecutionConfig;
import com.networknt.schema.ExecutionContext;
import java.util.Locale;

/**
 * One validation under way: what is left of its budget, and whether an alternative of a union
 * ({@code oneOf}, {@code anyOf}) is being tried. Used by one thread.
 *
 * <p>All keywords of a schema have to hold, so one that follows a failed one cannot change the
 * verdict. It is skipped in an alternative, whose errors nobody reads, and elsewhere when enough
 * errors are known.
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

  /** Returns what was before, for {@link #leave}. */
  boolean enterAlternatives() {
    boolean before = inAlternative;
    inAlternative = true;
    return before;
  }

  void leave(boolean before) {
    inAlternative = before;
  }
}
