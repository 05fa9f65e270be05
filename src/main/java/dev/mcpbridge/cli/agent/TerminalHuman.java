package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.Human;
import dev.mcpbridge.agent.ToolEnd;
import java.util.Locale;
import java.util.Optional;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.utils.AttributedStyle;

/** Whoever sits at the terminal. Everything that an approval covers is shown before. */
final class TerminalHuman implements Human {
  private static final AttributedStyle ASKING =
      AttributedStyle.BOLD.foreground(AttributedStyle.MAGENTA);

  private final Screen screen;
  private final LineReader reader;
  private final int jsonWidth;

  /**
   * @param reader one that remembers nothing: answers and credentials are no history
   */
  TerminalHuman(Screen screen, LineReader reader, int jsonWidth) {
    this.screen = screen;
    this.reader = reader;
    this.jsonWidth = jsonWidth;
  }

  @Override
  public Decision approves(ToolEnd.Pending call) throws InterruptedException {
    screen.rest();
    screen.line(
        "? " + Shown.plain(call.tool()) + " of " + Shown.plain(call.server()) + " is to run",
        ASKING);
    screen.line("  " + Shown.plain(call.risk()) + ", with exactly these arguments:");
    int width = Math.min(jsonWidth, screen.width() - 4);
    Shown.json(call.arguments(), width).lines().forEach(line -> screen.line("    " + line));
    while (true) {
      switch (read("  Run it? [y]es, [n]o, [a]lways in this session: ", null)) {
        case "y", "yes" -> {
          screen.waitFor("calling");
          return Decision.YES;
        }
        case "a", "always" -> {
          screen.waitFor("calling");
          return Decision.ALWAYS;
        }
        case "n", "no", "" -> {
          return Decision.NO;
        }
        default -> screen.line("  Please answer y, n or a.");
      }
    }
  }

  @Override
  public Optional<String> logsIn(ToolEnd.Login login) throws InterruptedException {
    screen.rest();
    screen.line("? " + Shown.plain(login.server()) + " wants you to log in:", ASKING);
    screen.line("    " + Shown.plain(login.url()));
    while (true) {
      String pasted = readExactly("  Paste what you get there (empty: not now): ", '*').strip();
      if (pasted.isEmpty()) {
        return Optional.empty();
      }
      if (pasted.chars().allMatch(c -> c >= 0x20 && c < 0x7F)) {
        screen.waitFor("calling");
        return Optional.of(pasted.indexOf(' ') < 0 ? "Bearer " + pasted : pasted);
      }
      screen.line("  That holds characters which no credential can have.");
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
