package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema that editors use and the reader that the bridge uses say the same. */
class ConfigSchemaTest {

  @Test
  void theDefaultFileFitsBoth() throws Exception {
    String text = Files.readString(Path.of("conf/bridge.json"));

    assertEquals(List.of(), schema().validate(Json.mapper().readTree(text)));
    new ConfigReader(Map.of()).read(text, ConfigReader.Strictness.WHOLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'http':{'port':70000}}",
        "{'http':{'prot':1}}",
        "{'http':{'maxConnections':0}}",
        "{'auth':{'keys':[{'name':'a','sha256':'x','scopes':['read']}]}}",
        "{'risk':{'default':4}}",
        "{'risk':{'approver':'me'}}",
        "{'risk':{'pendingStatus':201}}",
        "{'limits':{'depth':0}}",
        "{'drain':-1}",
        "{'mcpServers':{'s':{}}}",
        "{'mcpServers':{'a b':{'command':'x'}}}",
        "{'mcpServers':{'s':{'command':'x','args':'y'}}}",
        "{'mcpServers':{'s':{'command':'x','riskLevel':4}}}",
        "{'mcpServers':{'s':{'command':'x','risk':{'tools':{'a':9}}}}}",
        "{'mcpServers':{'s':{'command':'x','env':{'A':1}}}}",
        "{'mcpServers':{'s':{'command':'x','instances':0}}}",
        "{'mcpServers':{'s':{'command':'x','start':'maybe'}}}",
        "{'mcpServers':{'s':{'command':'x','tools':{'a':{'timeout':0}}}}}",
        "{'mcpServers':{'s':{'command':'x','logLevel':'loud'}}}",
        "{'mcpServers':{'s':{'command':'x','isolation':'yes'}}}",
        "{'mcpServers':{'s':{'command':'x','maxSessions':0}}}",
        "{'mcpServers':{'s':{'command':'x','roots':'all'}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','privileged':true}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','user':'0'}}}}",
        "{'mcpServers':{'s':{'command':'x','docker':{'image':'i','volumes':['x:/y']}}}}",
        "{'sandbox':{'engine':'ssh://x'}}",
        "{'sandbox':{'limits':{'cpus':0}}}"
      })
  void whatOneRefusesTheOtherRefusesToo(String singleQuoted) throws Exception {
    String text = singleQuoted.replace('\'', '"');

    assertFalse(schema().validate(Json.mapper().readTree(text)).isEmpty(), text);
    try {
      new ConfigReader(Map.of()).read(text, ConfigReader.Strictness.WHOLE);
    } catch (ConfigException expected) {
      return;
    }
    throw new AssertionError("the reader takes " + text);
  }

  private static Schema schema() throws Exception {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
        .getSchema(Json.mapper().readTree(Files.readString(Path.of("conf/bridge.schema.json"))));
  }
}
