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

/** The agent program: a conversation at the terminal, or a single question from a script. */
public final class AgentProgram {
  static final int FAILED = 1;

  private final AgentOptions agentOptions;

  /**
   * Options of the command line.
   *
   * @param bridge address of the bridge, requested when its tools are needed
   * @param jsonWidth maximum width of a line of JSON
   * @param transcript file of the transcript; null for none
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
   * Asks one question. The answer is printed to stdout, everything else to stderr.
   *
   * @param json whether to print the answer, its calls and token usage as JSON
   * @return the exit code
   */
  public int once(String question, boolean json) throws IOException {
    return runReportingErrors(
        participants -> {
          PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
          PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
          Progress progress = new Progress(TerminalScreen.plain(err), agentOptions.detail(), false);
          SingleQuestion singleQuestion = new SingleQuestion(out, err, json);
          try (Lines lines = Lines.to(agentOptions.transcript())) {
            return singleQuestion.run(
                new Conversation(
                    participants, singleQuestion, singleQuestion.combinedWith(progress), lines),
                question);
          }
        });
  }

  /**
   * Runs a conversation until the user quits.
   *
   * @return the exit code
   */
  public int converse() throws IOException {
    return runReportingErrors(
        participants -> {
          try (Console console = Console.open();
              Lines lines = Lines.to(agentOptions.transcript())) {
            converse(console, participants, agentOptions.detail(), lines);
            return 0;
          }
        });
  }

  private interface Session {
    int run(Conversation.Participants participants) throws IOException;
  }

  private int runReportingErrors(Session session) throws IOException {
    try {
      Function<String, ChatModel> models = agentOptions.models()::openNamed;
      return session.run(
          new Conversation.Participants(
              new BridgeTools(agentOptions.bridge()),
              agentOptions.models().open(),
              models,
              agentOptions.agentLimits()));
    } catch (BridgeException e) {
      System.err.println(TerminalText.escape(e.getMessage()));
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

  /** Runs a scripted conversation, so that the class-data archive contains its classes. */
  public static void warmUp(URI bridge) throws IOException {
    byte[] input = "first\n/help\n/quit\n".getBytes(StandardCharsets.UTF_8);
    Terminal terminal =
        TerminalBuilder.builder()
            .streams(new ByteArrayInputStream(input), OutputStream.nullOutputStream())
            .build();
    ChatModel model = new ModelOptions().demonstration();
    Conversation.Participants participants =
        new Conversation.Participants(
            new BridgeTools(bridge, null), model, name -> model, AgentLimits.DEFAULTS);
    try (Console console = Console.of(terminal, null)) {
      converse(console, participants, new Progress.Detail(false, 100), line -> {});
    }
  }

  private static BufferedWriter open(Path path) {
    try {
      return Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The --transcript file cannot be written: " + path);
    }
  }

  /** Writes each line of a transcript at once; discards them if there is no file. */
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
