package dev.mcpbridge.cli.agent;

import dev.mcpbridge.config.AgentConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.Provider;
import dev.mcpbridge.llm.ReplayModel;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** Options for the model and its API key. A key is never read from an argument and never shown. */
public final class ModelOptions {
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
              + " needs only chat completions; REPLAY needs no key.")
  private ModelChoice provider;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "NAME",
      description = "The provider's name of the model.")
  private String model;

  @Option(
      names = "--base-url",
      paramLabel = "URL",
      converter = HttpUrl.class,
      description = "Base URL of the API, as in the SDK of the provider (OpenAI: with /v1).")
  private URI base;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "File with the key, instead of GEMINI_API_KEY,%nOPENAI_API_KEY or ANTHROPIC_API_KEY.")
  private Path keyFile;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description = "Maximum time without any data from the model (default: ${DEFAULT-VALUE}).")
  private int timeout;

  @Option(
      names = "--max-tokens",
      paramLabel = "N",
      defaultValue = "0",
      description = "Maximum tokens of one answer (default: the limit of the provider).")
  private int maxTokens;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description = "With REPLAY: the transcript (default: a demonstration with the Git server).")
  private Path replay;

  private final Map<String, String> environment = System.getenv();

  /** Opens the chosen model. */
  ChatModel open() {
    return choice() == ModelChoice.REPLAY ? demonstration() : openNamed(model);
  }

  /**
   * Opens a model of the chosen provider.
   *
   * @param name null for the provider's default model
   */
  ChatModel openNamed(String name) {
    if (choice() == ModelChoice.REPLAY) {
      throw invalid("A recorded conversation has only one model");
    }
    Provider chosen = Provider.valueOf(choice().name());
    return chosen.open(
        base, key(chosen), name, Duration.ofSeconds(Math.max(1, timeout)), maxTokens);
  }

  /** Opens the transcript of --replay, else the demonstration that comes with the program. */
  ChatModel demonstration() {
    return replay == null ? ReplayModel.demonstration() : new ReplayModel(readTranscript());
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
                invalid(
                    "No model is configured: set GEMINI_API_KEY, OPENAI_API_KEY or"
                        + " ANTHROPIC_API_KEY, or choose one with --provider (replay needs no"
                        + " key)"));
  }

  private String key(Provider chosen) {
    Optional<String> key =
        keyFile == null
            ? Optional.ofNullable(environment.get(chosen.keyVariable()))
            : Optional.of(read(keyFile));
    String found = key.map(String::strip).filter(text -> !text.isEmpty()).orElse(null);
    String provider = chosen.name().toLowerCase(Locale.ROOT);
    if (found == null && AgentConfig.needsKey(provider, base != null)) {
      throw invalid("The API key is missing: set " + chosen.keyVariable() + " or --key-file");
    }
    if (found != null && !AgentConfig.isKey(found)) {
      throw invalid("The API key contains invalid characters");
    }
    return found;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw invalid("The --key-file cannot be read: " + file);
    }
  }

  private List<String> readTranscript() {
    try {
      return Files.readAllLines(replay);
    } catch (IOException e) {
      throw invalid("The --replay file cannot be read: " + replay);
    }
  }

  private static BridgeException invalid(String why) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, why);
  }
}
