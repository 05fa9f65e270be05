package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.PinRules.Reaction;
import dev.mcpbridge.model.ServerId;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PinsConfigTest {
  private static final String SERVERS =
      "'mcpServers':{'s':{'command':'sh'},'t':{'command':'sh','pins':{'changed':'warn'}}}";
  private static final String BLOCK = "'pins':{'changed':'block','new':'block'}";

  private static BridgeConfig read(String singleQuoted) {
    return new ConfigReader(Map.of())
        .read(singleQuoted.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  private static String problems(String singleQuoted) {
    return assertThrows(ConfigException.class, () -> read(singleQuoted)).getMessage();
  }

  @Test
  void nothingIsComparedByDefault() {
    assertTrue(read("{" + SERVERS + "}").pins().of(new ServerId("s")).isOff());
  }

  @Test
  void entryReplacesTheRulesOfAllServers() {
    PinsConfig pins = read("{" + BLOCK + "," + SERVERS + "}").pins();

    assertEquals(new PinRules(Reaction.BLOCK, Reaction.BLOCK, true), pins.of(new ServerId("s")));
    assertEquals(new PinRules(Reaction.WARN, Reaction.OFF, true), pins.of(new ServerId("t")));
    assertEquals(pins.of(new ServerId("s")), pins.of(new ServerId("later")));
  }

  @Test
  void lockFileOfTheConfigurationIsUsedUnlessOneIsNamed() {
    Path beside = new ConfigFile(Path.of("conf", "x.json")).lockFile();

    assertEquals(Path.of("conf", "bridge.lock.json"), beside);
    assertEquals(beside, read("{" + SERVERS + "}").withLockFile(beside).pins().file());
    assertEquals(
        Path.of("a.json"),
        read("{'pins':{'file':'a.json'}," + SERVERS + "}").withLockFile(beside).pins().file());
    assertNull(new ConfigFile(null).lockFile());
  }

  @Test
  void askingForTheFirstDefinitionsNeedsThatNewOnesAreHeld() {
    String problems = problems("{'pins':{'first':'ask','new':'warn'}," + SERVERS + "}");

    assertTrue(problems.contains("pins.first"), problems);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'pins':{'changed':'block'}| 's'| true",
        "'pins':{'changed':'warn','new':'block'}| 's'| true",
        "'pins':{'changed':'block','new':'block'}| 's'| false",
        "'pins':{'changed':'block','new':'block'}| 't'| true",
        "'pins':{'changed':'block','new':'block'}| '*','!t'| false",
        "'pins':{'changed':'block','new':'block'}| '*'| true",
        "'pins':{'changed':'off'}| 'later'| true"
      })
  void ruleAllowsByAnnotationsOnlyWhereChangedAndNewOnesAreHeld(
      String pins, String servers, boolean isRefused) {
    String text =
        "{%s,'access':{'rules':[{'name':'r','allow':['call'],'servers':[%s],"
            + "'annotations':{'readOnlyHint':{'equals':true}}}]},%s}";
    String config = text.formatted(pins, servers, SERVERS);

    if (isRefused) {
      String problems = problems(config);
      assertTrue(problems.contains("access.rules[0].annotations"), problems);
    } else {
      assertEquals(1, read(config).access().rules().size());
    }
  }
}
