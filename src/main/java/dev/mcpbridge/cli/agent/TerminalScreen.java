package dev.mcpbridge.cli.agent;

import java.io.PrintWriter;
import java.util.function.IntSupplier;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/**
 * Line-oriented output. A terminal has colours and a temporary status line; other outputs have
 * neither. Thread-safe.
 */
final class TerminalScreen {
  static final AttributedStyle ERROR = AttributedStyle.DEFAULT.foreground(AttributedStyle.RED);
  static final AttributedStyle FAINT = AttributedStyle.DEFAULT.faint();

  private static final String[] SPINNER_FRAMES = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
  private static final String ERASE = "\r\033[K";
  private static final long FRAME_MILLIS = 100;

  private final PrintWriter out;
  private final IntSupplier columns;
  private final boolean isTerminal;
  private final boolean colours;
  private Thread spinner;
  private boolean isStatusShown;

  TerminalScreen(PrintWriter out, IntSupplier columns, boolean isTerminal, boolean colours) {
    this.out = out;
    this.columns = columns;
    this.isTerminal = isTerminal;
    this.colours = colours;
  }

  /** An output that is not a terminal. */
  static TerminalScreen plain(PrintWriter out) {
    return new TerminalScreen(out, () -> 100, false, false);
  }

  int width() {
    int reported = columns.getAsInt();
    return reported < 20 ? 80 : reported;
  }

  synchronized void line(AttributedString line) {
    erase();
    out.println(colours ? line.toAnsi() : line.toString());
    out.flush();
  }

  void line(String text) {
    line(new AttributedString(text));
  }

  void line(String text, AttributedStyle style) {
    line(new AttributedString(text, style));
  }

  void markdown(String text) {
    Markdown.lines(text, width()).forEach(this::line);
  }

  /** Shows a status with a spinner and the elapsed time until {@link #stopSpinner}. */
  synchronized void startSpinner(String activity) {
    stopSpinner();
    if (isTerminal) {
      spinner = new Thread(() -> spin(activity, System.nanoTime()), "spinner");
      spinner.setDaemon(true);
      spinner.start();
    }
  }

  synchronized void stopSpinner() {
    if (spinner != null) {
      spinner.interrupt();
      spinner = null;
    }
    erase();
  }

  private void spin(String activity, long sinceNanos) {
    try {
      for (int i = 0; ; i++) {
        long seconds = (System.nanoTime() - sinceNanos) / 1_000_000_000;
        String elapsed = seconds > 1 ? " " + seconds + " s" : "";
        String status = SPINNER_FRAMES[i % SPINNER_FRAMES.length] + " " + activity + elapsed;
        if (!show(status)) {
          return;
        }
        Thread.sleep(FRAME_MILLIS);
      }
    } catch (InterruptedException e) {
      // stopped
    }
  }

  private synchronized boolean show(String status) {
    if (spinner != Thread.currentThread()) {
      return false;
    }
    String shown = status.substring(0, Math.min(status.length(), width() - 1));
    out.print(ERASE + shown);
    out.flush();
    isStatusShown = true;
    return true;
  }

  private void erase() {
    if (isStatusShown) {
      out.print(ERASE);
      out.flush();
      isStatusShown = false;
    }
  }
}
