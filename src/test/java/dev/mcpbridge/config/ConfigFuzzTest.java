package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Map;

/** The configuration, and entries that come over the network. */
class ConfigFuzzTest {
  private static final ConfigReader READER = new ConfigReader(Map.of("NAME", "value"));

  @FuzzTest(maxDuration = "1000h")
  void configurationIsReadOrItsProblemsAreNamed(FuzzedDataProvider data) {
    String text = data.consumeRemainingAsString();
    try {
      READER.read(text, ConfigReader.Strictness.ALL_OR_NOTHING);
    } catch (ConfigException e) {
      assertFalse(e.problems().isEmpty());
    }
  }

  @FuzzTest(maxDuration = "1000h")
  void textOfTheNetworkReadsNoVariablesAndFiles(FuzzedDataProvider data) {
    String text = data.consumeRemainingAsString();
    Placeholders foreign = new Placeholders(null);

    assertEquals(text, foreign.resolve(text));
    assertEquals(0, foreign.values().size());
  }

  @FuzzTest(maxDuration = "1000h")
  void onlyWholePlaceholdersAreReplaced(FuzzedDataProvider data) {
    String text = data.consumeRemainingAsString();
    String around = text.replace("${", "").replace("$", "");

    assertEquals(
        around + "value" + around,
        new Placeholders(Map.of("NAME", "value")).resolve(around + "${env:NAME}" + around));
  }
}
