package dev.mcpbridge.quota;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.protocol.Urgency;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UrgenciesTest {
  private static final String RULES =
      "{'who':{'roles':['on-call']},'mostUrgent':0},"
          + "{'who':{'principals':['nightly']},'urgency':6,'mostUrgent':4},"
          + "{'who':{'principals':['low']},'mostUrgent':6},"
          + "{'who':{'principals':['*']},'urgency':4}";

  private static BridgeConfig read(String priorities) {
    return new ConfigReader(Map.of())
        .read(
            ("{'priorities':[" + priorities + "],'mcpServers':{}}").replace('\'', '"'),
            ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  private static Principal principal(String name, String... roles) {
    return new Principal(name, Set.of(), Set.of(roles), null);
  }

  @ParameterizedTest
  @CsvSource({
    "operator, on-call, -1, 3",
    "operator, on-call, 0, 0",
    "operator, on-call, 7, 7",
    "nightly, on-call, 0, 0",
    "nightly, none, -1, 6",
    "nightly, none, -2, 6",
    "operator, on-call, -2, 5",
    "nightly, none, 2, 4",
    "low, none, -1, 6",
    "low, none, 5, 6",
    "other, none, -1, 4",
    "other, none, 0, 4",
    "other, none, 5, 5"
  })
  void theFirstEntryThatFitsBoundsWhatACallerMayAskFor(
      String name, String role, int asked, int granted) {
    Urgencies urgencies = new Urgencies(read(RULES).priorities());

    assertEquals(granted, urgencies.of(principal(name, role), asked));
  }

  @Test
  void withoutEntriesACallerMayOnlyAskToBeLessUrgent() {
    Urgencies urgencies = new Urgencies(read("").priorities());

    assertEquals(3, urgencies.of(Principal.ANONYMOUS, 0));
    assertEquals(7, urgencies.of(Principal.ANONYMOUS, 7));
    assertEquals(5, urgencies.of(Principal.ANONYMOUS, Urgency.UNSPECIFIED_IN_BACKGROUND));
    assertEquals(Urgency.UNSPECIFIED, urgencies.of(Principal.ANONYMOUS, Urgency.UNSPECIFIED));
    assertFalse(urgencies.hasUrgentCallers());
  }

  @Test
  void slotsAreKeptOnlyIfACallerMayBeUrgent() {
    Urgencies urgencies = new Urgencies(read("{'mostUrgent':2}").priorities());
    assertTrue(urgencies.hasUrgentCallers());

    urgencies.reload(read("{'mostUrgent':3}").priorities());

    assertFalse(urgencies.hasUrgentCallers());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'mostUrgent':-1}; priorities[0].mostUrgent",
        "{'urgency':8}; priorities[0].urgency",
        "{'who':{}}; priorities[0].who",
        "{'max':1}; priorities[0].max"
      })
  void invalidEntriesAreRefusedByTheirPlace(String entry, String place) {
    ConfigException refused = Assertions.assertThrows(ConfigException.class, () -> read(entry));

    assertTrue(refused.getMessage().contains(place), refused.getMessage());
  }
}
