package dev.mcpbridge.cli;

import java.time.Instant;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Formats each event as one line for stderr; control characters in messages are escaped. */
final class LogLineFormatter extends Formatter {
  private static final int MAX = 4000;

  /** The least severe level that is logged. */
  enum Threshold {
    DEBUG(Level.FINE),
    INFO(Level.INFO),
    WARNING(Level.WARNING),
    ERROR(Level.SEVERE);

    private final Level level;

    Threshold(Level level) {
      this.level = level;
    }
  }

  static void configure(Threshold threshold) {
    Logger root = Logger.getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    Handler console = new ConsoleHandler();
    console.setFormatter(new LogLineFormatter());
    console.setLevel(Level.ALL);
    root.addHandler(console);
    root.setLevel(Level.WARNING);
    Logger own = Logger.getLogger("dev.mcpbridge");
    own.setLevel(threshold.level);
    CONFIGURED[0] = own;
  }

  /** Strong reference: a logger that is garbage collected loses its level. */
  private static final Logger[] CONFIGURED = new Logger[1];

  @Override
  public String format(LogRecord event) {
    String message = formatMessage(event);
    if (event.getThrown() != null) {
      message += " " + event.getThrown();
    }
    return Instant.ofEpochMilli(event.getMillis())
        + " "
        + event.getLevel().getName()
        + " "
        + simple(event.getLoggerName())
        + " "
        + safe(message)
        + System.lineSeparator();
  }

  private static String simple(String logger) {
    return logger == null ? "-" : logger.substring(logger.lastIndexOf('.') + 1);
  }

  private static String safe(String message) {
    StringBuilder line = new StringBuilder();
    message
        .chars()
        .limit(MAX)
        .forEach(
            c -> {
              if (Character.isISOControl(c) || c >= 0x200B && c <= 0x206F) {
                line.append(String.format("\\u%04x", c));
              } else {
                line.append((char) c);
              }
            });
    return line.toString();
  }
}
