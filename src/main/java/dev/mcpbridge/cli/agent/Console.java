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

/** The terminal that the program was started at. */
record Console(
    Terminal terminal, TerminalScreen terminalScreen, LineReader questions, LineReader answers)
    implements AutoCloseable {

  static Console open() throws IOException {
    // asking the terminal what it knows takes half a second where it does not answer
    System.setProperty(TerminalBuilder.PROP_PROBE_TIMEOUT, "1");
    // the terminal sends signals itself; with those that JLine makes of keys Ctrl-C comes twice
    System.setProperty(TerminalBuilder.PROP_SOFTWARE_SIGNALS, "false");
    return of(
        TerminalBuilder.builder().name("mcp-bridge").dumb(true).graphemeCluster(false).build(),
        history());
  }

  /**
   * @param history where questions are remembered, null for nowhere
   */
  static Console of(Terminal terminal, Path history) {
    boolean isTerminal = !terminal.getType().startsWith(Terminal.TYPE_DUMB);
    boolean colours = isTerminal && System.getenv("NO_COLOR") == null;
    Size size = terminal.getSize();
    if (isTerminal && (size.getRows() == 0 || size.getColumns() == 0)) {
      // what nobody has measured: an editor of lines would have no room at all
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

  /** Null where none can be kept. */
  private static Path history() {
    Path folder = StateFolder.of(System.getenv());
    try {
      Files.createDirectories(folder);
      return folder.resolve("agent-history");
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public void close() throws IOException {
    terminalScreen.rest();
    terminal.close();
  }
}
