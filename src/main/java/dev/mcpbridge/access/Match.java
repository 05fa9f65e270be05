package dev.mcpbridge.access;

/**
 * Whether a condition holds. A value that is missing, of another type or ambiguous decides nothing:
 * a rule that allows then does not apply, and a rule that denies does.
 */
enum Match {
  YES,
  NO,
  UNDECIDED;

  static Match of(boolean holds) {
    return holds ? YES : NO;
  }

  Match negated() {
    return this == YES ? NO : this == NO ? YES : UNDECIDED;
  }

  /** Whether a rule applies. */
  boolean applies(boolean isAllowing) {
    return isAllowing ? this == YES : this != NO;
  }
}
