package dev.mcpbridge.cli;

import dev.mcpbridge.error.LoggedFailure;
import dev.mcpbridge.protocol.JsonWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * Formats each event as one JSON object on a line for stderr, with the names of the log data model
 * of OpenTelemetry.
 */
final class JsonLogFormatter extends Formatter {
  private static final int MAX = 4000;
  private static final int MAX_TRACE = 16_000;

  /** Name of this node; null outside a cluster. */
  private static volatile String node;

  static void setNode(String name) {
    node = name;
  }

  @Override
  public String format(LogRecord event) {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("timestamp", Instant.ofEpochMilli(event.getMillis()).toString())
            .member("severity_text", severity(event.getLevel()))
            .member("body", cut(formatMessage(event), MAX))
            .member("logger", String.valueOf(event.getLoggerName()));
    member(out, "node", node);
    if (event.getParameters() != null
        && event.getParameters().length > 0
        && event.getParameters()[0] instanceof LoggedFailure failure) {
      member(out, "trace_id", failure.traceId());
      member(out, "span_id", failure.spanId());
      member(out, "server", failure.server());
      member(out, "tool", cut(failure.target(), MAX));
      member(out, "callId", failure.callId());
      member(out, "code", failure.code().slug());
    }
    if (event.getThrown() != null) {
      StringWriter trace = new StringWriter();
      event.getThrown().printStackTrace(new PrintWriter(trace));
      member(out, "exception", cut(trace.toString(), MAX_TRACE));
    }
    return out.endObject().toSlice().text() + System.lineSeparator();
  }

  private static void member(JsonWriter out, String name, String value) {
    if (value != null) {
      out.member(name, value);
    }
  }

  private static String cut(String text, int max) {
    return text.length() > max ? text.substring(0, max) : text;
  }

  /** The short names of the log data model. */
  private static String severity(Level level) {
    if (level.intValue() >= Level.SEVERE.intValue()) {
      return "ERROR";
    }
    if (level.intValue() >= Level.WARNING.intValue()) {
      return "WARN";
    }
    return level.intValue() >= Level.INFO.intValue() ? "INFO" : "DEBUG";
  }
}
