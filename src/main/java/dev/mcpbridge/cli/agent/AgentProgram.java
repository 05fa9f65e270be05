package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.AgentLimits;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ReplayModel;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/** The agent as a program: a conversation at the terminal, or one question of a script. */
public final class AgentProgram {
  static final int FAILED = 1;

  private final AgentOptions agentOptions;

  /**
   * What was asked for on the command line.
   *
   * @param bridge whose tools the model has; asked when they are needed
   * @param jsonWidth of a line of JSON
   * @param transcript null for none
   */
  public record AgentOptions(
      ModelOptions models,
      Supplier<BridgeTools.BridgeAddress> bridge,
      AgentLimits agentLimits,
      boolean hidesJson,
      int jsonWidth,
      Path transcript) {

    Progress.Detail detail() {
      return new Progress.Detail(hidesJson, Math.max(20, jsonWidth));
    }
  }

  public AgentProgram(AgentOptions agentOptions) {
    this.agentOptions = agentOptions;
  }

  /**
   * Asks one question; its answer goes to stdout, all else to stderr.
   *
   * @param json whether the answer is told with all that led to it
   * @return the exit code
   */
  public int once(String question, boolean json) throws IOException {
    return guarded(
        participants -> {
          PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
          PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
          Progress progress = new Progress(TerminalScreen.plain(err), agentOptions.detail(), false);
          SingleQuestion singleQuestion = new SingleQuestion(out, err, json);
          try (Lines lines = Lines.to(agentOptions.transcript())) {
            return singleQuestion.run(
                new Conversation(
                    participants, singleQuestion, singleQuestion.beside(progress), lines),
                question);
          }
        });
  }

  /**
   * Talks until the human leaves.
   *
   * @return the exit code
   */
  public int converse() throws IOException {
    return guarded(
        participants -> {
          try (Console console = Console.open();
              Lines lines = Lines.to(agentOptions.transcript())) {
            converse(console, participants, agentOptions.detail(), lines);
            return 0;
          }
        });
  }

  private interface Conversing {
    int with(Conversation.Participants participants) throws IOException;
  }

  private int guarded(Conversing conversing) throws IOException {
    try {
      Function<String, ChatModel> others = agentOptions.models()::named;
      return conversing.with(
          new Conversation.Participants(
              new BridgeTools(agentOptions.bridge()),
              agentOptions.models().open(),
              others,
              agentOptions.agentLimits()));
    } catch (BridgeException e) {
      System.err.println(TerminalText.plain(e.getMessage()));
      return FAILED;
    }
  }

  private static void converse(
      Console console,
      Conversation.Participants participants,
      Progress.Detail detail,
      Consumer<String> lines) {
    ChatModel model = participants.model();
    TerminalScreen terminalScreen = console.terminalScreen();
    Conversation conversation =
        new Conversation(
            participants,
            new TerminalApprover(terminalScreen, console.answers(), detail.jsonWidth()),
            new Progress(terminalScreen, detail, true),
            lines);
    new ChatShell(
            conversation,
            terminalScreen,
            console.questions(),
            console.terminal(),
            index -> model instanceof ReplayModel replay ? replay.question(index).orElse("") : "")
        .run();
  }

  /** A conversation with nobody, so that an archive of loaded classes has what a start needs. */
  public static void rehearse(URI bridge) throws IOException {
    byte[] typed = "first\n/help\n/quit\n".getBytes(StandardCharsets.UTF_8);
    Terminal terminal =
        TerminalBuilder.builder()
            .streams(new ByteArrayInputStream(typed), OutputStream.nullOutputStream())
            .build();
    ChatModel model = new ModelOptions().demonstration();
    Conversation.Participants participants =
        new Conversation.Participants(
            new BridgeTools(bridge, null), model, name -> model, AgentLimits.USUAL);
    try (Console console = Console.of(terminal, null)) {
      converse(console, participants, new Progress.Detail(false, 100), line -> {});
    }
  }

  private static BufferedWriter open(Path path) {
    try {
      return Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "--transcript cannot be written: " + path);
    }
  }

  /** A transcript that is written as it comes. */
  private record Lines(PrintWriter file) implements Consumer<String>, AutoCloseable {
    static Lines to(Path path) {
      return new Lines(path == null ? null : new PrintWriter(open(path)));
    }

    @Override
    public void accept(String line) {
      if (file != null) {
        file.println(line);
        file.flush();
      }
    }

    @Override
    public void close() {
      if (file != null) {
        file.close();
      }
    }
  }
}
