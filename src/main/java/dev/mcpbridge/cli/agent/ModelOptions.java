package dev.mcpbridge.cli.agent;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ModelEndpoint;
import dev.mcpbridge.llm.Provider;
import dev.mcpbridge.llm.ReplayModel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** Which model is talked to, and with which key. A key is never an argument, and never shown. */
public final class ModelOptions {
  private static final String DEMONSTRATION = "conversation.jsonl";

  enum ModelChoice {
    GEMINI,
    OPENAI,
    ANTHROPIC,
    STRUCTURED,
    REPLAY
  }

  @Option(
      names = {"-p", "--provider"},
      paramLabel = "PROVIDER",
      description =
          "${COMPLETION-CANDIDATES} (default: the one whose key is in the environment). STRUCTURED"
              + " needs nothing but chat completions; REPLAY needs no key.")
  private ModelChoice provider;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "NAME",
      description = "The provider's name for it.")
  private String model;

  @Option(
      names = "--base-url",
      paramLabel = "URL",
      converter = HttpUrl.class,
      description = "Where the API is, as the provider's own SDK takes it (OpenAI: with /v1).")
  private URI base;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description = "The key, instead of GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY.")
  private Path keyFile;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description = "How long the model may say nothing at all (default: ${DEFAULT-VALUE}).")
  private int timeout;

  @Option(
      names = "--max-tokens",
      paramLabel = "N",
      defaultValue = "0",
      description = "Of one answer (default: the provider's own bound).")
  private int maxTokens;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description = "With REPLAY: a transcript (default: a demonstration with the Git server).")
  private Path replay;

  private final Map<String, String> environment = System.getenv();

  /** The one that was chosen. */
  ChatModel open() {
    return choice() == ModelChoice.REPLAY ? demonstration() : named(model);
  }

  /**
   * Another one of the same provider.
   *
   * @param name null for its usual one
   */
  ChatModel named(String name) {
    if (choice() == ModelChoice.REPLAY) {
      throw wrong("A recorded conversation has one model");
    }
    Provider known = Provider.valueOf(choice().name());
    return known.at(
        new ModelEndpoint(
            base == null ? known.defaultBase() : base,
            key(known),
            name == null ? known.defaultModel() : name,
            Duration.ofSeconds(Math.max(1, timeout)),
            maxTokens));
  }

  /** The recorded conversation that comes with the program. */
  ChatModel demonstration() {
    return new ReplayModel(recorded());
  }

  private ModelChoice choice() {
    if (provider != null) {
      return provider;
    }
    return Stream.of(ModelChoice.GEMINI, ModelChoice.OPENAI, ModelChoice.ANTHROPIC)
        .filter(each -> environment.containsKey(Provider.valueOf(each.name()).keyVariable()))
        .findFirst()
        .orElseThrow(
            () ->
                wrong(
                    "No model to talk to: set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY,"
                        + " or choose one with --provider (replay needs no key)"));
  }

  private String key(Provider known) {
    Optional<String> key =
        keyFile == null
            ? Optional.ofNullable(environment.get(known.keyVariable()))
            : Optional.of(read(keyFile));
    String found = key.map(String::strip).filter(text -> !text.isEmpty()).orElse(null);
    boolean isElsewhere = base != null && known.mayBeWithoutKey();
    if (found == null && !isElsewhere) {
      throw wrong("There is no key: set " + known.keyVariable() + " or give --key-file");
    }
    if (found != null && !found.chars().allMatch(c -> c > 0x20 && c < 0x7F)) {
      throw wrong("The key holds characters that no key has");
    }
    return found;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw wrong("--key-file cannot be read: " + file);
    }
  }

  private List<String> recorded() {
    try (InputStream in =
            replay == null
                ? ModelOptions.class.getResourceAsStream(DEMONSTRATION)
                : Files.newInputStream(replay);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      return lines.lines().toList();
    } catch (IOException e) {
      throw wrong("--replay cannot be read: " + replay);
    }
  }

  private static BridgeException wrong(String why) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, why);
  }
}
