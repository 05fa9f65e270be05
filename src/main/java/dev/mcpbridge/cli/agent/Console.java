package dev.mcpbridge.cli.agent;

import dev.mcpbridge.config.StateFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/** The terminal of the program: its screen, and line readers for questions and for answers. */
record Console(
    Terminal terminal, TerminalScreen terminalScreen, LineReader questions, LineReader answers)
    implements AutoCloseable {

  static Console open() throws IOException {
    // a terminal that does not answer the capability probe would delay the start by half a second
    System.setProperty(TerminalBuilder.PROP_PROBE_TIMEOUT, "1");
    // the terminal sends signals itself; JLine's software signals would deliver Ctrl-C twice
    System.setProperty(TerminalBuilder.PROP_SOFTWARE_SIGNALS, "false");
    return of(
        TerminalBuilder.builder().name("mcp-bridge").dumb(true).graphemeCluster(false).build(),
        history());
  }

  /**
   * @param history file of the question history; null for none
   */
  static Console of(Terminal terminal, Path history) {
    boolean isTerminal = !terminal.getType().startsWith(Terminal.TYPE_DUMB);
    boolean colours = isTerminal && System.getenv("NO_COLOR") == null;
    Size size = terminal.getSize();
    if (isTerminal && (size.getRows() == 0 || size.getColumns() == 0)) {
      // the size is unknown; the line editor cannot work with a size of 0
      terminal.setSize(Size.of(size.getColumns() == 0 ? 80 : size.getColumns(), 24));
    }
    TerminalScreen terminalScreen =
        new TerminalScreen(
            terminal.writer(), () -> terminal.getSize().getColumns(), isTerminal, colours);
    LineReaderBuilder questions =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .option(LineReader.Option.HISTORY_IGNORE_SPACE, true)
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true);
    if (history != null) {
      questions.variable(LineReader.HISTORY_FILE, history);
    }
    LineReader answers =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .variable(LineReader.DISABLE_HISTORY, true)
            .build();
    return new Console(terminal, terminalScreen, questions.build(), answers);
  }

  /** The history file; null if its folder cannot be created. */
  private static Path history() {
    Path folder = StateFolder.of(System.getenv());
    try {
      Files.createDirectories(folder);
      return folder.resolve("agent-history");
    } catch (IOException e) {
      return null;
    }
  }

  /** Replaces the handler of Ctrl-C; returns the previous one. */
  Terminal.SignalHandler onInterrupt(Terminal.SignalHandler handler) {
    return terminal.handle(Terminal.Signal.INT, handler);
  }

  @Override
  public void close() throws IOException {
    terminalScreen.stopSpinner();
    terminal.close();
  }
}
