package dev.mcpbridge.cli;

import java.util.logging.LogManager;

/**
 * The log of a program that stops in an orderly way. The JVM removes the handlers of the log as
 * soon as the program is asked to end; the bridge reports until it has stopped. Created by {@code
 * java.util.logging}.
 */
public final class UninterruptedLog extends LogManager {
  private static volatile boolean isKept;

  /** From now on the handlers stay. */
  static void keep() {
    isKept = true;
  }

  @Override
  public void reset() {
    if (!isKept) {
      super.reset();
    }
  }
}
