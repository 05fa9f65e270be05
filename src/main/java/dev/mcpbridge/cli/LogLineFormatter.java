package dev.mcpbridge.cli;

import java.time.Instant;
import java.util.List;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/** Formats each event as one line for stderr; control characters in messages are escaped. */
final class LogLineFormatter extends Formatter {
  private static final int MAX = 4000;

  /** Strong reference: a logger that is garbage collected loses its level. */
  private static final Logger OWN = Logger.getLogger("dev.mcpbridge");

  /** Connections between nodes fail all the time while a node is away; the cluster reports that. */
  private static final List<Logger> REPORTED_ELSEWHERE =
      List.of(
          Logger.getLogger("org.apache.zookeeper"),
          Logger.getLogger("io.vertx.core.eventbus.impl.clustered"));

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

  /** How events are written. */
  enum Format {
    TEXT,
    JSON
  }

  static void configure(Threshold threshold) {
    configure(threshold, Format.TEXT);
  }

  static void configure(Threshold threshold, Format format) {
    Logger root = Logger.getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    Handler console = new ConsoleHandler();
    console.setFormatter(format == Format.JSON ? new JsonLogFormatter() : new LogLineFormatter());
    console.setLevel(Level.ALL);
    root.addHandler(console);
    root.setLevel(Level.WARNING);
    OWN.setLevel(threshold.level);
    REPORTED_ELSEWHERE.forEach(logger -> logger.setLevel(Level.OFF));
  }

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
    return message
        .chars()
        .limit(MAX)
        .mapToObj(c -> isUnsafe(c) ? String.format("\\u%04x", c) : String.valueOf((char) c))
        .collect(Collectors.joining());
  }

  private static boolean isUnsafe(int c) {
    return Character.isISOControl(c) || c >= 0x200B && c <= 0x206F;
  }
}
