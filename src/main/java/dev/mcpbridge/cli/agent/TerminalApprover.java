package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.Approver;
import dev.mcpbridge.agent.ToolOutcome;
import java.util.Locale;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.utils.AttributedStyle;

/** Asks the user at the terminal, after showing everything that the approval covers. */
final class TerminalApprover implements Approver {
  private static final AttributedStyle PROMPT =
      AttributedStyle.BOLD.foreground(AttributedStyle.MAGENTA);

  private final TerminalScreen terminalScreen;
  private final LineReader reader;
  private final int jsonWidth;

  /**
   * @param reader a reader without a history: answers and credentials must not be stored
   */
  TerminalApprover(TerminalScreen terminalScreen, LineReader reader, int jsonWidth) {
    this.terminalScreen = terminalScreen;
    this.reader = reader;
    this.jsonWidth = jsonWidth;
  }

  @Override
  public Decision decide(ToolOutcome.Pending call) throws InterruptedException {
    terminalScreen.stopSpinner();
    terminalScreen.line(
        "? "
            + TerminalText.escape(call.tool())
            + " of "
            + TerminalText.escape(call.server())
            + " needs your approval",
        PROMPT);
    terminalScreen.line(
        "  " + TerminalText.escape(call.risk()) + ", with exactly these arguments:");
    int width = Math.min(jsonWidth, terminalScreen.width() - 4);
    TerminalText.json(call.arguments(), width)
        .lines()
        .forEach(line -> terminalScreen.line("    " + line));
    while (true) {
      switch (readText("  Run it? [y]es, [n]o, [a]lways in this session: ")
          .toLowerCase(Locale.ROOT)) {
        case "y", "yes" -> {
          terminalScreen.startSpinner("calling");
          return Decision.YES;
        }
        case "a", "always" -> {
          terminalScreen.startSpinner("calling");
          return Decision.ALWAYS;
        }
        case "n", "no", "" -> {
          return Decision.NO;
        }
        default -> terminalScreen.line("  Please answer y, n or a.");
      }
    }
  }

  @Override
  public boolean requestConsent(ToolOutcome.ConsentRequired consent) throws InterruptedException {
    terminalScreen.stopSpinner();
    terminalScreen.line(
        "? " + TerminalText.escape(consent.server()) + " needs your consent. Open in a browser:",
        PROMPT);
    terminalScreen.line("    " + TerminalText.escape(consent.url()));
    String answer = readText("  Press Enter when you have agreed there (n to skip): ");
    if (answer.equalsIgnoreCase("n") || answer.equalsIgnoreCase("no")) {
      return false;
    }
    terminalScreen.startSpinner("calling");
    return true;
  }

  /** Ctrl-C cancels the question; the end of the input is an empty answer. */
  private String readText(String prompt) throws InterruptedException {
    try {
      return reader.readLine(prompt).strip();
    } catch (UserInterruptException e) {
      throw new InterruptedException("by the user");
    } catch (EndOfFileException e) {
      return "";
    }
  }
}
