package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentConfigTest {
  private static AgentConfig read(String agent) {
    return new ConfigReader(Map.of("KEY", "sk-secret-1\n"))
        .read(
            ("{'agent':" + agent + "}").replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING)
        .agent();
  }

  @Test
  void modelIsOfferedOnlyIfItIsConfigured() {
    assertNull(read("{}"));
  }

  @Test
  void keyComesFromTheEnvironmentAndIsNotPrinted() {
    AgentConfig agent = read("{'provider':'anthropic','key':'${env:KEY}'}");

    assertEquals("sk-secret-1", agent.key().reveal());
    assertFalse(agent.toString().contains("secret-1"), agent.toString());
    assertEquals(8, agent.turns().atOnce());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'provider':'gemini'}                                        | agent.key",
        "{'provider':'openai'}                                        | agent.key",
        "{'provider':'anthropic','baseUrl':'http://127.0.0.1:1'}      | agent.key",
        "{'provider':'openai','key':'two words'}                      | agent.key",
        "{'provider':'other','key':'k'}                               | agent.provider",
        "{'model':'m'}                                                | agent.provider",
        "{'provider':'openai','key':'k','baseUrl':'ftp://x'}          | agent.baseUrl",
        "{'provider':'openai','key':'k','turns':0}                    | agent.turns",
        "{'provider':'openai','key':'k','tokens':1}                   | agent.tokens",
      })
  void mistakeIsReportedAtItsPlace(String agent, String path) {
    ConfigException refused =
        assertThrows(ConfigException.class, () -> read(agent.replace("''", "'")));

    assertEquals(path, refused.problems().get(0).path(), refused.getMessage());
  }

  @Test
  void serverWithTheApiOfOpenAiMayNeedNoKey() {
    assertNull(read("{'provider':'openai','baseUrl':'http://127.0.0.1:11434/v1'}").key());
    assertNull(read("{'provider':'replay'}").key());
  }
}
