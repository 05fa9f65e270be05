package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;

/** Scenarios for several kinds of models, each with a provider of its own. */
abstract class ModelScenarios {
  @Parameter Recorded recorded;
  ScriptedProvider provider;

  @BeforeEach
  void start() throws IOException {
    provider = new ScriptedProvider(recorded);
  }

  @AfterEach
  void stop() throws IOException {
    provider.close();
  }

  /** Asks, and returns the failure, which never contains the key. */
  BridgeException failed() {
    BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("hello"));
    assertFalse(failure.getMessage().contains(ScriptedProvider.KEY), failure.getMessage());
    return failure;
  }
}
