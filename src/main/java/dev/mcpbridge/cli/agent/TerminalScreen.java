package dev.mcpbridge.cli.agent;

import java.io.PrintWriter;
import java.util.List;
import java.util.function.IntSupplier;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/**
 * Where things are shown, line by line. A terminal has colours and a line of state that comes and
 * goes; anything else has neither. Thread-safe.
 */
final class TerminalScreen {
  private static final String[] TURNING = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
  private static final String ERASE = "\r\033[K";
  private static final long TURN_MILLIS = 100;

  private final PrintWriter out;
  private final IntSupplier columns;
  private final boolean isTerminal;
  private final boolean colours;
  private Thread spinner;
  private boolean isStateShown;

  TerminalScreen(PrintWriter out, IntSupplier columns, boolean isTerminal, boolean colours) {
    this.out = out;
    this.columns = columns;
    this.isTerminal = isTerminal;
    this.colours = colours;
  }

  /** Of a program whose output goes elsewhere. */
  static TerminalScreen plain(PrintWriter out) {
    return new TerminalScreen(out, () -> 100, false, false);
  }

  int width() {
    int known = columns.getAsInt();
    return known < 20 ? 80 : known;
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
    markdown(Markdown.lines(text, width()));
  }

  private void markdown(List<AttributedString> lines) {
    lines.forEach(this::line);
  }

  /** Says until {@link #rest} that something is waited for. */
  synchronized void waitFor(String what) {
    rest();
    if (isTerminal) {
      spinner = new Thread(() -> turn(what, System.nanoTime()), "spinner");
      spinner.setDaemon(true);
      spinner.start();
    }
  }

  synchronized void rest() {
    if (spinner != null) {
      spinner.interrupt();
      spinner = null;
    }
    erase();
  }

  private void turn(String what, long sinceNanos) {
    try {
      for (int i = 0; ; i++) {
        long seconds = (System.nanoTime() - sinceNanos) / 1_000_000_000;
        String state =
            TURNING[i % TURNING.length] + " " + what + (seconds > 1 ? " " + seconds + " s" : "");
        if (!show(state)) {
          return;
        }
        Thread.sleep(TURN_MILLIS);
      }
    } catch (InterruptedException e) {
      // it is over
    }
  }

  private synchronized boolean show(String state) {
    if (spinner != Thread.currentThread()) {
      return false;
    }
    String cut = state.substring(0, Math.min(state.length(), width() - 1));
    out.print(ERASE + cut);
    out.flush();
    isStateShown = true;
    return true;
  }

  private void erase() {
    if (isStateShown) {
      out.print(ERASE);
      out.flush();
      isStateShown = false;
    }
  }
}
