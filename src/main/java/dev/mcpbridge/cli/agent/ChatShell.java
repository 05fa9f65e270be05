package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.error.BridgeException;
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

/** A conversation at a terminal. A line is a question, or a command if it starts with a slash. */
final class ChatShell {
  private static final AttributedStyle ERROR =
      AttributedStyle.DEFAULT.foreground(AttributedStyle.RED);
  private static final AttributedStyle FAINT = AttributedStyle.DEFAULT.faint();
  private static final String HELP =
      """
      /tools          list the tools of the bridge
      /servers        list its servers and their state
      /model [NAME]   show the model, or switch to another one of the provider
      /clear          start a new conversation
      /save FILE      save the conversation for replay
      /quit           quit (or Ctrl-D)
      Ctrl-C cancels the current operation only.""";

  private final Conversation conversation;
  private final TerminalScreen terminalScreen;
  private final LineReader reader;
  private final Terminal terminal;
  private final IntFunction<String> suggestions;
  private int questions;

  /**
   * @param suggestions the question for an empty line, by the number of questions asked before;
   *     empty text for none
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

  /** Runs until the end of the input. Ctrl-C between two prompts is ignored. */
  void run() {
    Terminal.SignalHandler previous = terminal.handle(Terminal.Signal.INT, signal -> {});
    try {
      converse();
    } finally {
      terminal.handle(Terminal.Signal.INT, previous);
    }
  }

  private void converse() {
    terminalScreen.line(
        "Talking to " + conversation.model().name() + ". Type /help for help.", FAINT);
    for (String line = readLine(); line != null; line = readLine()) {
      if (line.startsWith("/")) {
        if (line.equals("/quit") || line.equals("/exit")) {
          return;
        }
        interruptible(line);
      } else if (!line.isEmpty()) {
        questions++;
        interruptible(line);
      }
    }
  }

  /** Reads the next line; null at the end of the input. */
  private String readLine() {
    String suggestion = suggestions.apply(questions);
    if (!suggestion.isEmpty()) {
      terminalScreen.line("Press Enter to ask: " + TerminalText.escape(suggestion), FAINT);
    }
    try {
      String typed = reader.readLine("> ").strip();
      return typed.isEmpty() ? suggestion : typed;
    } catch (UserInterruptException e) {
      terminalScreen.line("Press Ctrl-D or type /quit to quit.", FAINT);
      return "";
    } catch (EndOfFileException e) {
      return null;
    }
  }

  private void interruptible(String line) {
    Thread thread = Thread.currentThread();
    Terminal.SignalHandler previous =
        terminal.handle(Terminal.Signal.INT, signal -> thread.interrupt());
    try {
      if (line.startsWith("/")) {
        command(line);
      } else {
        ask(line);
      }
    } catch (InterruptedException e) {
      terminalScreen.stopSpinner();
      terminalScreen.line("Stopped.", ERROR);
    } catch (BridgeException e) {
      terminalScreen.stopSpinner();
      terminalScreen.line(TerminalText.escape(e.getMessage()), ERROR);
    } finally {
      terminal.handle(Terminal.Signal.INT, previous);
      Thread.interrupted();
    }
  }

  private void ask(String question) throws InterruptedException {
    Agent.Answer answer = conversation.agent().ask(question);
    String remark =
        switch (answer.outcome()) {
          case ANSWERED -> "";
          case CUT -> "The answer was cut off at its token limit. ";
          case REFUSED -> "The model refused to answer. ";
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
        terminalScreen.line("Started a new conversation.", FAINT);
      }
      case "/save" -> save(rest);
      default ->
          terminalScreen.line("Unknown command " + words[0] + "; type /help for help.", ERROR);
    }
  }

  private void tools() throws InterruptedException {
    for (JsonNode tool : conversation.tools().all()) {
      String words = tool.path("description").asText("").lines().findFirst().orElse("");
      String name = tool.path("server_id").asText() + " " + tool.path("name").asText();
      TerminalText.truncate(String.format("%-36s %s", name, words), terminalScreen.width(), 1)
          .forEach(terminalScreen::line);
    }
  }

  private void servers() throws InterruptedException {
    for (JsonNode server : conversation.tools().servers()) {
      String error = server.path("last_error").asText("");
      terminalScreen.line(
          TerminalText.escape(
              String.format(
                  "%-20s %-10s %s",
                  server.path("id").asText(), server.path("state").asText(), error)));
    }
  }

  private void model(String name) {
    if (!name.isEmpty()) {
      conversation.agent().switchModel(conversation.openModel(name));
    }
    terminalScreen.line(conversation.model().name());
  }

  private void save(String name) {
    if (name.isEmpty()) {
      terminalScreen.line("The file name is missing; use: /save FILE", ERROR);
      return;
    }
    try {
      Files.write(Path.of(name), conversation.transcript());
      terminalScreen.line("Saved to " + name + ".", FAINT);
    } catch (IOException | InvalidPathException e) {
      terminalScreen.line("The file cannot be written: " + e.getMessage(), ERROR);
    }
  }
}
