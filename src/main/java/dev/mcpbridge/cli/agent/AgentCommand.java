package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.Limits;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ReplayModel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A model that has the tools of a bridge, at the terminal or for a script. */
@Command(
    name = "agent",
    description = "Talk to a model that has the tools of a running bridge.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "  mcp-bridge agent --provider replay",
      "  GEMINI_API_KEY=… mcp-bridge agent",
      "  mcp-bridge agent --provider openai --base-url http://127.0.0.1:11434/v1 --model qwen3",
      "  mcp-bridge agent --once \"Which repositories are there?\""
    })
public final class AgentCommand implements Callable<Integer> {
  private static final int FAILED = 1;

  enum Output {
    TEXT,
    JSON
  }

  @Mixin private ModelOptions models;

  @Option(
      names = {"-u", "--mcp-url", "--url"},
      paramLabel = "URL",
      defaultValue = "${env:MCP_BRIDGE_URL:-http://127.0.0.1:3000}",
      description = "The bridge (default: MCP_BRIDGE_URL or http://127.0.0.1:3000).")
  private URI url;

  @Option(
      names = "--mcp-port",
      paramLabel = "PORT",
      description = "The bridge's port, instead of the one in its URL.")
  private Integer port;

  @Option(names = "--hide-json", description = "Show neither arguments nor results.")
  private boolean hidesJson;

  @Option(
      names = "--json-width",
      paramLabel = "COLUMNS",
      defaultValue = "100",
      description = "Of a line of JSON (default: ${DEFAULT-VALUE}).")
  private int jsonWidth;

  @Option(
      names = "--once",
      paramLabel = "QUESTION",
      description = "Ask, answer on stdout, and end; what needs an approval is not run.")
  private String once;

  @Option(
      names = "--output",
      paramLabel = "FORMAT",
      defaultValue = "TEXT",
      description = "With --once: ${COMPLETION-CANDIDATES}.")
  private Output output;

  @Option(
      names = "--transcript",
      paramLabel = "FILE",
      description = "Write down what is said and done; --replay FILE plays it again.")
  private Path transcript;

  @Option(
      names = "--max-steps",
      paramLabel = "N",
      defaultValue = "25",
      description = "How often the model is asked for one question (default: ${DEFAULT-VALUE}).")
  private int maxSteps;

  @Option(
      names = "--max-result",
      paramLabel = "CHARACTERS",
      defaultValue = "50000",
      description = "Of a result that the model gets to see (default: ${DEFAULT-VALUE}).")
  private int maxResult;

  @Override
  public Integer call() throws IOException {
    try {
      ChatModel model = models.open();
      Talk.Sides sides =
          new Talk.Sides(
              new BridgeTools(bridge(), System.getenv("MCP_BRIDGE_KEY")),
              model,
              models::named,
              new Limits(
                  Math.max(1, maxSteps), Math.max(100, maxResult), Limits.USUAL.manyTools()));
      Progress.Detail detail = new Progress.Detail(hidesJson, Math.max(20, jsonWidth));
      return once == null ? converse(sides, detail) : ask(sides, detail);
    } catch (BridgeException e) {
      System.err.println(Shown.plain(e.getMessage()));
      return FAILED;
    }
  }

  private URI bridge() {
    try {
      return port == null
          ? url
          : new URI(url.getScheme(), null, url.getHost(), port, url.getPath(), null, null);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private int ask(Talk.Sides sides, Progress.Detail detail) throws IOException {
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    Progress progress = new Progress(Screen.plain(err), detail, false);
    Script script = new Script(out, err, output == Output.JSON);
    try (Lines lines = Lines.to(transcript)) {
      return script.run(new Talk(sides, script, script.beside(progress), lines), once);
    }
  }

  private int converse(Talk.Sides sides, Progress.Detail detail) throws IOException {
    try (Console console = Console.open();
        Lines lines = Lines.to(transcript)) {
      converse(console, sides, detail, lines);
      return 0;
    }
  }

  private static void converse(
      Console console, Talk.Sides sides, Progress.Detail detail, Consumer<String> lines) {
    ChatModel model = sides.model();
    Screen screen = console.screen();
    Talk talk =
        new Talk(
            sides,
            new TerminalHuman(screen, console.answers(), detail.jsonWidth()),
            new Progress(screen, detail, true),
            lines);
    new Shell(
            talk,
            screen,
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
    Talk.Sides sides =
        new Talk.Sides(new BridgeTools(bridge, null), model, name -> model, Limits.USUAL);
    try (Console console = Console.of(terminal, null)) {
      converse(console, sides, new Progress.Detail(false, 100), line -> {});
    }
  }

  /** A transcript that is written as it comes. */
  private record Lines(PrintWriter file) implements Consumer<String>, AutoCloseable {
    static Lines to(Path path) throws IOException {
      return new Lines(
          path == null
              ? null
              : new PrintWriter(
                  Files.newBufferedWriter(
                      path, StandardOpenOption.CREATE, StandardOpenOption.APPEND)));
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
