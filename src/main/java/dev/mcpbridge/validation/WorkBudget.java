package dev.mcpbridge.validation;

import java.util.concurrent.TimeUnit;

/**
 * The work budget of one compilation or one validation, in steps and in time. A step is about one
 * comparison of a keyword with a value; steps also bound the memory, since everything that is
 * retained takes a step to create. Used by one thread.
 */
final class WorkBudget {
  private static final int STEPS_BETWEEN_CHECKS = 512;

  private final long deadlineNanos;
  private long remaining;
  private long nextCheck;
  private boolean isDone;
  private boolean exceeded;

  /** Ends the work. Has no stack trace, because only {@link #isExceeded()} is evaluated. */
  static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1;

    private Exceeded() {
      super("The budget is exceeded", null, false, false);
    }
  }

  /** The size of a budget. */
  record Size(long steps, long millis) {
    WorkBudget open() {
      return new WorkBudget(this);
    }
  }

  private WorkBudget(Size size) {
    this.remaining = size.steps();
    this.nextCheck = remaining - STEPS_BETWEEN_CHECKS;
    this.deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(size.millis());
  }

  /**
   * @throws Exceeded if the steps or the time are used up
   */
  void spend(long steps) {
    remaining -= steps;
    if (remaining < nextCheck && !isDone) {
      check();
    }
  }

  private void check() {
    nextCheck = remaining - STEPS_BETWEEN_CHECKS;
    if (remaining < 0 || System.nanoTime() - deadlineNanos > 0) {
      exceeded = true;
      throw new Exceeded();
    }
  }

  /** Ends the count: the little work that the library defers is not counted. */
  void done() {
    isDone = true;
  }

  /** Also if the library has wrapped or swallowed the exception. */
  boolean isExceeded() {
    return exceeded;
  }
}
