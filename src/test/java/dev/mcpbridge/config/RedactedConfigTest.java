package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedactedConfigTest {
  private static JsonNode redacted(String singleQuoted) throws Exception {
    return Json.tree(RedactedConfig.of(singleQuoted.replace('\'', '"')).orElseThrow());
  }

  @Test
  void whatExplainsAFaultStays() throws Exception {
    JsonNode shown =
        redacted(
            "{'http':{'port':3071,'compression':'lists'},'auth':{'keys':[{'sha256':'${env:KEY}'}]},"
                + "'mcpServers':{'w':{'command':'/opt/npx','maxQueued':3},"
                + "'r':{'type':'http','url':'https://u:p@h.example:81/mcp?key=k'}}}");

    assertEquals(3071, shown.at("/http/port").asInt());
    assertEquals("lists", shown.at("/http/compression").asText());
    assertEquals("${env:KEY}", shown.at("/auth/keys/0/sha256").asText());
    assertEquals("npx", shown.at("/mcpServers/w/command").asText());
    assertEquals(3, shown.at("/mcpServers/w/maxQueued").asInt());
    assertEquals("http", shown.at("/mcpServers/r/type").asText());
    assertEquals("https://h.example:81/…", shown.at("/mcpServers/r/url").asText());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'mcpServers':{'w':{'command':'x','args':['%s']}}}",
        "{'mcpServers':{'w':{'env':{'A':'%s'}}}}",
        "{'mcpServers':{'w':{'env':{'command':'/%s'}}}}",
        "{'mcpServers':{'w':{'headers':{'Authorization':'%s'}}}}",
        "{'mcpServers':{'w':{'url':'https://h/%s?a=%s'}}}",
        "{'mcpServers':{'w':{'url':'https://%s:%s@h/'}}}",
        "{'mcpServers':{'w':{'env':{'A':'${env:B:-%s}'}}}}",
        "{'mcpServers':{'w':{'command':'srv --token=%s'}}}",
        "{'mcpServers':{'w':{'command':'/bin/srv=%s'}}}",
        "{'unknown':{'command':['%s',{'type':'%s'}]}}",
        "['%s']",
        "'%s'"
      })
  void noOtherTextIsShown(String config) throws Exception {
    assertFalse(redacted(config.replace("%s", "hushhushhush")).toString().contains("hush"), config);
  }

  @Property(tries = 300)
  void noTextThatIsNotOfTheSchemaIsShown(
      @ForAll @AlphaChars @StringLength(min = 8, max = 40) String secret) throws Exception {
    String shown =
        redacted(
                "{'mcpServers':{'w':{'command':'x','args':['"
                    + secret
                    + "'],'era':'"
                    + secret
                    + "'}}}")
            .toString();

    assertFalse(shown.contains(secret), shown);
  }

  @Test
  void aNumberIsShownOnlyWhereOneIsExpected() throws Exception {
    JsonNode shown =
        redacted("{'http':{'port':1},'mcpServers':{'w':{'env':{'PIN':123456},'x':123456}}}");

    assertFalse(shown.toString().contains("123456"), shown.toString());
    assertEquals(1, shown.at("/http/port").asInt());
  }

  @Test
  void aFileThatIsNotJsonIsNotShown() {
    assertEquals(Optional.empty(), RedactedConfig.of("{\"a\": hush"));
    assertTrue(RedactedConfig.of("{}").isPresent());
  }
}
