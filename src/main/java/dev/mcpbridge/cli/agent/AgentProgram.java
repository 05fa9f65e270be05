package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.AgentLimits;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.Transcript;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.trace.Tracer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * The agent program: a conversation at the terminal, or a single question from a script.
 *
 * @param bridge address of the bridge, requested when its tools are needed
 * @param jsonWidth maximum width of a line of JSON
 * @param transcript file of the transcript; null for none
 * @param tracer records the questions and the requests to the model
 */
public record AgentProgram(
    ModelOptions models,
    Supplier<BridgeTools.BridgeAddress> bridge,
    AgentLimits agentLimits,
    boolean hidesJson,
    int jsonWidth,
    Path transcript,
    Tracer tracer) {
  static final int FAILED = 1;

  public AgentProgram {
    jsonWidth = Math.max(20, jsonWidth);
  }

  /**
   * Asks one question, or runs a conversation until the user quits.
   *
   * @param question null for a conversation
   * @param json whether to print the answer to the question, its calls and token usage as JSON
   * @return the exit code
   */
  public int run(String question, boolean json) throws IOException {
    try {
      ChatModel model = models.open();
      if (question != null) {
        return once(model, question, json);
      }
      try (Console console = Console.open()) {
        converse(console, model);
        return 0;
      }
    } catch (BridgeException e) {
      System.err.println(TerminalText.escape(e.getMessage()));
      return FAILED;
    }
  }

  /** The answer is printed to stdout, everything else to stderr. */
  private int once(ChatModel model, String question, boolean json) {
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    Progress progress = new Progress(TerminalScreen.plain(err), hidesJson, jsonWidth, false);
    SingleQuestion single = new SingleQuestion(out, err, json);
    try (PrintWriter file = transcriptFile()) {
      return single.run(
          new Agent(
              model,
              new BridgeTools(bridge),
              single,
              List.of(progress, single, new Transcript(file::println)),
              agentLimits,
              tracer),
          question);
    }
  }

  private void converse(Console console, ChatModel model) {
    BridgeTools tools = new BridgeTools(bridge);
    TerminalScreen screen = console.terminalScreen();
    List<String> lines = new ArrayList<>();
    try (PrintWriter file = transcriptFile()) {
      Transcript written =
          new Transcript(
              line -> {
                file.println(line);
                lines.add(line);
              });
      Agent agent =
          new Agent(
              model,
              tools,
              new TerminalApprover(screen, console.answers(), jsonWidth),
              List.of(new Progress(screen, hidesJson, jsonWidth, true), written),
              agentLimits,
              tracer);
      new ChatShell(console, agent, tools, models, lines).run();
    }
  }

  /** Runs a scripted conversation, so that the class-data archive contains its classes. */
  public static void warmUp(URI bridge) throws IOException {
    byte[] input = "first\n/help\n/quit\n".getBytes(StandardCharsets.UTF_8);
    Terminal terminal =
        TerminalBuilder.builder()
            .streams(new ByteArrayInputStream(input), OutputStream.nullOutputStream())
            .build();
    ModelOptions models = new ModelOptions();
    AgentProgram program =
        new AgentProgram(
            models,
            () -> new BridgeTools.BridgeAddress(bridge, () -> null),
            AgentLimits.DEFAULTS,
            false,
            100,
            null,
            Tracer.OFF);
    try (Console console = Console.of(terminal, null)) {
      program.converse(console, models.demonstration());
    }
  }

  /** Writes each line at once; discards them if there is no file. */
  private PrintWriter transcriptFile() {
    try {
      return new PrintWriter(
          transcript == null
              ? Writer.nullWriter()
              : Files.newBufferedWriter(
                  transcript, StandardOpenOption.CREATE, StandardOpenOption.APPEND),
          true);
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The --transcript file cannot be written: " + transcript);
    }
  }
}
