package dev.mcpbridge.validation;

import java.util.concurrent.TimeUnit;

/**
 * What one compilation or one validation may cost, in steps and in time. A step is about one
 * comparison of a keyword with a value; steps also bound the memory, since nothing is kept that no
 * step has made. Used by one thread.
 */
final class WorkBudget {
  private static final int STEPS_BETWEEN_LOOKS = 512;

  private final long deadlineNanos;
  private long left;
  private long nextLook;
  private boolean isOver;
  private boolean exceeded;

  /** Ends the work; has no stack trace, since its only reader asks {@link #isExceeded()}. */
  static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1;

    private Exceeded() {
      super("The budget is exceeded", null, false, false);
    }
  }

  /** What may be spent. */
  record Size(long steps, long millis) {
    WorkBudget open() {
      return new WorkBudget(this);
    }
  }

  private WorkBudget(Size size) {
    this.left = size.steps();
    this.nextLook = left - STEPS_BETWEEN_LOOKS;
    this.deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(size.millis());
  }

  /**
   * @throws Exceeded where nothing is left of the steps or of the time
   */
  void spend(long steps) {
    left -= steps;
    if (left < nextLook && !isOver) {
      look();
    }
  }

  private void look() {
    nextLook = left - STEPS_BETWEEN_LOOKS;
    if (left < 0 || System.nanoTime() - deadlineNanos > 0) {
      exceeded = true;
      throw new Exceeded();
    }
  }

  /** The work is done; the little that a library has put off is not counted. */
  void done() {
    isOver = true;
  }

  /** Also where a library has wrapped or swallowed the exception. */
  boolean isExceeded() {
    return exceeded;
  }
}
