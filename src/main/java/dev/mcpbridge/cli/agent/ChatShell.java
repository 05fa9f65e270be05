package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.llm.ReplayModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jline.reader.EndOfFileException;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;

/** A conversation at a terminal. A line is a question, or a command if it starts with a slash. */
final class ChatShell {
  private static final String HELP =
      """
      /tools          list the tools of the bridge
      /servers        list its servers and their state
      /model [NAME]   show the model, or switch to another one of the provider
      /clear          start a new conversation
      /save FILE      save the conversation for replay
      /quit           quit (or Ctrl-D)
      Ctrl-C cancels the current operation only.""";

  private final Console console;
  private final TerminalScreen terminalScreen;
  private final Agent agent;
  private final BridgeTools tools;
  private final ModelOptions models;
  private final List<String> transcript;
  private int questions;

  /**
   * @param transcript the lines so far, for {@code /save}; the agent appends to it
   */
  ChatShell(
      Console console,
      Agent agent,
      BridgeTools tools,
      ModelOptions models,
      List<String> transcript) {
    this.console = console;
    this.terminalScreen = console.terminalScreen();
    this.agent = agent;
    this.tools = tools;
    this.models = models;
    this.transcript = transcript;
  }

  /** Runs until the end of the input. Ctrl-C between two prompts is ignored. */
  void run() {
    Terminal.SignalHandler previous = console.onInterrupt(signal -> {});
    try {
      converse();
    } finally {
      console.onInterrupt(previous);
    }
  }

  private void converse() {
    terminalScreen.line(
        "Talking to " + agent.model().name() + ". Type /help for help.", TerminalScreen.FAINT);
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
    String suggestion =
        agent.model() instanceof ReplayModel replay ? replay.question(questions).orElse("") : "";
    if (!suggestion.isEmpty()) {
      terminalScreen.line(
          "Press Enter to ask: " + TerminalText.escape(suggestion), TerminalScreen.FAINT);
    }
    try {
      String typed = console.questions().readLine("> ").strip();
      return typed.isEmpty() ? suggestion : typed;
    } catch (UserInterruptException e) {
      terminalScreen.line("Press Ctrl-D or type /quit to quit.", TerminalScreen.FAINT);
      return "";
    } catch (EndOfFileException e) {
      return null;
    }
  }

  private void interruptible(String line) {
    Thread thread = Thread.currentThread();
    Terminal.SignalHandler previous = console.onInterrupt(signal -> thread.interrupt());
    try {
      if (line.startsWith("/")) {
        command(line);
      } else {
        ask(line);
      }
    } catch (InterruptedException e) {
      terminalScreen.stopSpinner();
      terminalScreen.line("Stopped.", TerminalScreen.ERROR);
    } catch (BridgeException e) {
      terminalScreen.stopSpinner();
      terminalScreen.line(TerminalText.escape(e.getMessage()), TerminalScreen.ERROR);
    } finally {
      console.onInterrupt(previous);
      Thread.interrupted();
    }
  }

  private void ask(String question) throws InterruptedException {
    Agent.Answer answer = agent.ask(question);
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
      terminalScreen.line(remark + tokens, TerminalScreen.FAINT);
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
        agent.clear();
        questions = 0;
        terminalScreen.line("Started a new conversation.", TerminalScreen.FAINT);
      }
      case "/save" -> save(rest);
      default ->
          terminalScreen.line(
              "Unknown command " + words[0] + "; type /help for help.", TerminalScreen.ERROR);
    }
  }

  private void tools() throws InterruptedException {
    for (JsonNode tool : tools.all()) {
      String words = tool.path("description").asText("").lines().findFirst().orElse("");
      String name = tool.path("server_id").asText() + " " + tool.path("name").asText();
      TerminalText.truncate(String.format("%-36s %s", name, words), terminalScreen.width(), 1)
          .forEach(terminalScreen::line);
    }
  }

  private void servers() throws InterruptedException {
    for (JsonNode server : tools.servers()) {
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
      agent.switchModel(models.openNamed(name));
    }
    terminalScreen.line(agent.model().name());
  }

  private void save(String name) {
    if (name.isEmpty()) {
      terminalScreen.line("The file name is missing; use: /save FILE", TerminalScreen.ERROR);
      return;
    }
    try {
      Files.write(Path.of(name), transcript);
      terminalScreen.line("Saved to " + name + ".", TerminalScreen.FAINT);
    } catch (IOException | InvalidPathException e) {
      terminalScreen.line("The file cannot be written: " + e.getMessage(), TerminalScreen.ERROR);
    }
  }
}
