package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.llm.ChatModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.IntFunction;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.utils.AttributedStyle;

/**
 * A conversation at a terminal: a question after the other, and commands that begin with a slash.
 */
final class ChatShell {
  private static final AttributedStyle BAD =
      AttributedStyle.DEFAULT.foreground(AttributedStyle.RED);
  private static final AttributedStyle FAINT = AttributedStyle.DEFAULT.faint();
  private static final String HELP =
      """
      /tools          the tools of the bridge
      /servers        its servers and their state
      /model [NAME]   the model, or another one of the same provider
      /clear          begin anew
      /save FILE      write the conversation down, to be replayed
      /quit           leave (or Ctrl-D)
      Ctrl-C ends what is being done, and nothing else.""";

  private final Conversation conversation;
  private final TerminalScreen terminalScreen;
  private final LineReader reader;
  private final Terminal terminal;
  private final IntFunction<String> suggestions;
  private int asked;

  /**
   * @param suggestions what is asked where nothing is typed, by the number of questions before; an
   *     empty text for nothing
   */
  ChatShell(
      Conversation conversation,
      TerminalScreen terminalScreen,
      LineReader reader,
      Terminal terminal,
      IntFunction<String> suggestions) {
    this.conversation = conversation;
    this.terminalScreen = terminalScreen;
    this.reader = reader;
    this.terminal = terminal;
    this.suggestions = suggestions;
  }

  /** Until the end of the input; Ctrl-C between two prompts does not end it. */
  void run() {
    Terminal.SignalHandler before = terminal.handle(Terminal.Signal.INT, signal -> {});
    try {
      converse();
    } finally {
      terminal.handle(Terminal.Signal.INT, before);
    }
  }

  private void converse() {
    terminalScreen.line(
        "Talking to " + conversation.model().name() + ". /help shows what else there is.", FAINT);
    for (String line = next(); line != null; line = next()) {
      if (line.startsWith("/")) {
        if (line.equals("/quit") || line.equals("/exit")) {
          return;
        }
        interruptible(line);
      } else if (!line.isEmpty()) {
        asked++;
        interruptible(line);
      }
    }
  }

  /** Null at the end. */
  private String next() {
    String suggestion = suggestions.apply(asked);
    if (!suggestion.isEmpty()) {
      terminalScreen.line("Enter asks: " + TerminalText.plain(suggestion), FAINT);
    }
    try {
      String typed = reader.readLine("> ").strip();
      return typed.isEmpty() ? suggestion : typed;
    } catch (UserInterruptException e) {
      terminalScreen.line("Ctrl-D or /quit leaves.", FAINT);
      return "";
    } catch (EndOfFileException e) {
      return null;
    }
  }

  private void interruptible(String line) {
    Thread here = Thread.currentThread();
    Terminal.SignalHandler before =
        terminal.handle(Terminal.Signal.INT, signal -> here.interrupt());
    try {
      if (line.startsWith("/")) {
        command(line);
      } else {
        ask(line);
      }
    } catch (InterruptedException e) {
      terminalScreen.rest();
      terminalScreen.line("Stopped.", BAD);
    } catch (BridgeException e) {
      terminalScreen.rest();
      terminalScreen.line(TerminalText.plain(e.getMessage()), BAD);
    } finally {
      terminal.handle(Terminal.Signal.INT, before);
      Thread.interrupted();
    }
  }

  private void ask(String question) throws InterruptedException {
    Agent.Answer answer = conversation.agent().ask(question);
    String remark =
        switch (answer.outcome()) {
          case ANSWERED -> "";
          case CUT -> "The answer was cut off by its bound of tokens. ";
          case REFUSED -> "The model refused. ";
          case OUT_OF_STEPS -> "Stopped after " + answer.steps() + " steps. ";
        };
    String tokens =
        answer.usage().input() == 0
            ? ""
            : answer.usage().input() + " tokens in, " + answer.usage().output() + " out";
    if (!remark.isEmpty() || !tokens.isEmpty()) {
      terminalScreen.line(remark + tokens, FAINT);
    }
  }

  private void command(String line) throws InterruptedException {
    String[] words = line.split("\\s+", 2);
    String rest = words.length > 1 ? words[1].strip() : "";
    switch (words[0]) {
      case "/help" -> HELP.lines().forEach(terminalScreen::line);
      case "/tools" -> tools();
      case "/servers" -> servers();
      case "/model" -> model(rest);
      case "/clear" -> {
        conversation.agent().clear();
        terminalScreen.line("Begun anew.", FAINT);
      }
      case "/save" -> save(rest);
      default ->
          terminalScreen.line("There is no " + words[0] + "; /help shows what there is.", BAD);
    }
  }

  private void tools() throws InterruptedException {
    for (JsonNode tool : conversation.tools().all()) {
      String words = tool.path("description").asText("").lines().findFirst().orElse("");
      String name = tool.path("server_id").asText() + " " + tool.path("name").asText();
      TerminalText.cut(String.format("%-36s %s", name, words), terminalScreen.width(), 1)
          .forEach(terminalScreen::line);
    }
  }

  private void servers() throws InterruptedException {
    for (JsonNode server : conversation.tools().servers()) {
      String error = server.path("last_error").asText("");
      terminalScreen.line(
          TerminalText.plain(
              String.format(
                  "%-20s %-10s %s",
                  server.path("id").asText(), server.path("state").asText(), error)));
    }
  }

  private void model(String name) {
    if (!name.isEmpty()) {
      ChatModel other = conversation.other(name);
      conversation.agent().use(other);
    }
    terminalScreen.line(conversation.model().name());
  }

  private void save(String name) {
    if (name.isEmpty()) {
      terminalScreen.line("Where to? /save FILE", BAD);
      return;
    }
    try {
      Files.write(Path.of(name), conversation.transcript());
      terminalScreen.line("Written to " + name + ".", FAINT);
    } catch (IOException | InvalidPathException e) {
      terminalScreen.line("It cannot be written: " + e.getMessage(), BAD);
    }
  }
}
