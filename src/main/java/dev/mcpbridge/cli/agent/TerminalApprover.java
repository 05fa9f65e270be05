package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.Approver;
import dev.mcpbridge.agent.ToolOutcome;
import java.util.Locale;
import java.util.Optional;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.utils.AttributedStyle;

/** Whoever sits at the terminal. Everything that an approval covers is shown before. */
final class TerminalApprover implements Approver {
  private static final AttributedStyle ASKING =
      AttributedStyle.BOLD.foreground(AttributedStyle.MAGENTA);

  private final TerminalScreen terminalScreen;
  private final LineReader reader;
  private final int jsonWidth;

  /**
   * @param reader one that remembers nothing: answers and credentials are no history
   */
  TerminalApprover(TerminalScreen terminalScreen, LineReader reader, int jsonWidth) {
    this.terminalScreen = terminalScreen;
    this.reader = reader;
    this.jsonWidth = jsonWidth;
  }

  @Override
  public Decision approves(ToolOutcome.Pending call) throws InterruptedException {
    terminalScreen.rest();
    terminalScreen.line(
        "? "
            + TerminalText.plain(call.tool())
            + " of "
            + TerminalText.plain(call.server())
            + " is to run",
        ASKING);
    terminalScreen.line("  " + TerminalText.plain(call.risk()) + ", with exactly these arguments:");
    int width = Math.min(jsonWidth, terminalScreen.width() - 4);
    TerminalText.json(call.arguments(), width)
        .lines()
        .forEach(line -> terminalScreen.line("    " + line));
    while (true) {
      switch (read("  Run it? [y]es, [n]o, [a]lways in this session: ", null)) {
        case "y", "yes" -> {
          terminalScreen.waitFor("calling");
          return Decision.YES;
        }
        case "a", "always" -> {
          terminalScreen.waitFor("calling");
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
  public Optional<String> logsIn(ToolOutcome.Login login) throws InterruptedException {
    terminalScreen.rest();
    terminalScreen.line(
        "? " + TerminalText.plain(login.server()) + " wants you to log in:", ASKING);
    terminalScreen.line("    " + TerminalText.plain(login.url()));
    while (true) {
      String pasted = readExactly("  Paste what you get there (empty: not now): ", '*').strip();
      if (pasted.isEmpty()) {
        return Optional.empty();
      }
      if (pasted.chars().allMatch(c -> c >= 0x20 && c < 0x7F)) {
        terminalScreen.waitFor("calling");
        return Optional.of(pasted.indexOf(' ') < 0 ? "Bearer " + pasted : pasted);
      }
      terminalScreen.line("  That holds characters which no credential can have.");
    }
  }

  private String read(String prompt, Character mask) throws InterruptedException {
    return readExactly(prompt, mask).strip().toLowerCase(Locale.ROOT);
  }

  /** Ctrl-C gives the question up; the end of the input is an empty answer. */
  private String readExactly(String prompt, Character mask) throws InterruptedException {
    try {
      return reader.readLine(prompt, mask);
    } catch (UserInterruptException e) {
      throw new InterruptedException("by the user");
    } catch (EndOfFileException e) {
      return "";
    }
  }
}
