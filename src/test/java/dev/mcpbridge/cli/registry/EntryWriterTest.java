package dev.mcpbridge.cli.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries for servers of a registry, and what a registry must not be able to do. */
class EntryWriterTest {
  private static RegistryServer server(String members) {
    String json =
        "{'name':'io.example/weather','description':'Weather.','version':'1.2.0'," + members + "}";
    try {
      return RegistryServer.of(Json.tree(json.replace('\'', '"')));
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  /** A package of npm; members replace those that it has otherwise. */
  private static RegistryServer npm(String members) {
    StringBuilder all = new StringBuilder("'registryType':'npm','transport':{'type':'stdio'}");
    for (String usual : List.of("'identifier':'@example/weather'", "'version':'1.2.0'")) {
      String name = usual.substring(0, usual.indexOf(':') + 1);
      all.append(members.startsWith(name) ? "" : "," + usual);
    }
    all.append(members.isEmpty() ? "" : "," + members);
    return server("'packages':[{" + all + "}]");
  }

  private static EntryWriter.Entry write(RegistryServer server, String... settings) {
    Map<String, List<String>> given = new HashMap<>();
    for (String setting : settings) {
      String[] parts = setting.split("=", 2);
      given.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
    }
    return EntryWriter.write(server, null, given);
  }

  private static String json(EntryWriter.Entry entry) {
    return entry.json().without("description").toString().replace('"', '\'');
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "npm; @example/weather; {'command':'npx','args':['-y','@example/weather@1.2.0']}",
        "pypi; weather-mcp; {'command':'uvx','args':['weather-mcp@1.2.0']}",
        "nuget; Example.Weather; {'command':'dnx','args':['--yes','Example.Weather@1.2.0']}",
        "oci; docker.example/x/weather;"
            + "{'command':'docker','args':['run','-i','--rm','docker.example/x/weather:1.2.0']}",
        "oci; example/weather:1.2.0;"
            + "{'command':'docker','args':['run','-i','--rm','example/weather:1.2.0']}"
      })
  void aPackageIsRunInItsVersion(String type, String identifier, String expected) {
    RegistryServer server =
        server(
            "'packages':[{'registryType':'"
                + type
                + "','identifier':'"
                + identifier
                + "','version':'1.2.0','transport':{'type':'stdio'}}]");

    assertEquals(expected, json(write(server)));
    assertEquals("io.example/weather 1.2.0", write(server).json().path("description").asText());
  }

  @Test
  void argumentsAndVariablesComeFromTheOperatorOrTheirDefaults() {
    RegistryServer server =
        npm(
            "'packageArguments':[{'type':'named','name':'--units','default':'metric'},"
                + "{'type':'named','name':'--quiet','isRequired':true},"
                + "{'type':'named','name':'--unused'},"
                + "{'type':'named','name':'--at','value':'{host}:{port}/{other}','variables':"
                + "{'host':{'isRequired':true},'port':{'default':'80'}}},"
                + "{'type':'positional','valueHint':'folder','isRequired':true,'isRepeated':true}],"
                + "'environmentVariables':[{'name':'KEY','isSecret':true,'isRequired':true},"
                + "{'name':'LEVEL','default':'info'},{'name':'EXTRA'}]");

    EntryWriter.Entry entry = write(server, "host=h", "folder=/a b", "folder=/c");

    assertEquals(
        "{'command':'npx','args':['-y','@example/weather@1.2.0','--units','metric','--quiet',"
            + "'--at','h:80/{other}','/a b','/c'],'env':{'KEY':'${env:KEY}','LEVEL':'info'}}",
        json(entry));
    assertEquals(
        List.of("The variable KEY of the bridge's environment goes to the server."), entry.notes());
  }

  @Test
  void whatIsMissingIsListed() {
    BridgeException missing =
        assertThrows(
            BridgeException.class,
            () ->
                write(
                    npm(
                        "'environmentVariables':[{'name':'CITY','isRequired':true,"
                            + "'description':'Where.'}]")));

    assertEquals(ErrorCode.INVALID_SERVER, missing.code());
    assertTrue(missing.getMessage().contains("--set CITY=…  Where."), missing.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "unknown=1, no input 'unknown'",
    "LEVEL=loud, must be one of",
    "LEVEL=info;LEVEL=debug, one value only"
  })
  void aWrongValueIsRefused(String settings, String why) {
    RegistryServer server =
        npm("'environmentVariables':[{'name':'LEVEL','choices':['info','debug']}]");

    BridgeException refusal =
        assertThrows(BridgeException.class, () -> write(server, settings.split(";")));

    assertTrue(refusal.getMessage().contains(why), refusal.getMessage());
  }

  @Test
  void aContainerGetsItsVariablesByName() {
    RegistryServer server =
        server(
            "'packages':[{'registryType':'oci','identifier':'example/w','version':'1',"
                + "'transport':{'type':'stdio'},'runtimeArguments':[{'type':'named',"
                + "'name':'-v','value':'/:/host'}],"
                + "'environmentVariables':[{'name':'KEY','isSecret':true}]}]");

    EntryWriter.Entry entry = write(server);

    assertEquals(
        "{'command':'docker','args':['run','-i','--rm','-e','KEY','-v','/:/host','example/w:1'],"
            + "'env':{'KEY':'${env:KEY}'}}",
        json(entry));
    assertTrue(
        entry.notes().stream().anyMatch(note -> note.endsWith("other options: -v /:/host")),
        entry.notes().toString());
  }

  @Test
  void aRemoteServerIsReachedWithItsHeaders() {
    RegistryServer server =
        server(
            "'remotes':[{'type':'streamable-http','url':'https://{tenant}.example/mcp','variables':"
                + "{'tenant':{'isRequired':true}},'headers':[{'name':'Authorization','value':"
                + "'Bearer {token}','variables':{'token':{'isSecret':true}}}]}]");

    assertEquals(
        "{'type':'http','url':'https://acme.example/mcp',"
            + "'headers':{'Authorization':'Bearer ${env:TOKEN}'}}",
        json(write(server, "tenant=acme")));
    assertEquals(
        List.of("The variable TOKEN of the bridge's environment goes to https://acme.example/mcp."),
        write(server, "tenant=acme").notes());
  }

  @Test
  void anImageComesFromTheRegistryThatIsNamed() {
    RegistryServer server =
        server(
            "'packages':[{'registryType':'oci','registryBaseUrl':'https://images.example',"
                + "'identifier':'acme/tool','version':'1'}]");

    assertTrue(json(write(server)).contains("'images.example/acme/tool:1'"));
    assertTrue(
        write(npm("'registryBaseUrl':'https://npm.example'"))
            .notes()
            .get(0)
            .contains("meant to come from https://npm.example"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'runtimeHint':'bash'",
        "'runtimeHint':'/tmp/npx'",
        "'version':'latest'",
        "'version':'^1.0'",
        "'version':''",
        "'version':'1.0 --evil'",
        "'identifier':'--eval=x'",
        "'identifier':'https://evil.example/x.tgz'",
        "'identifier':'../x'",
        "'identifier':'a@b'",
        "'packageArguments':[{'type':'positional','value':'${file:/etc/passwd}'}]",
        "'packageArguments':[{'type':'positional','valueHint':'x','default':'${env:HOME}'}]",
        "'packageArguments':[{'type':'named','name':'${env:HOME}','value':'x'}]",
        "'packageArguments':[{'type':'positional','value':'{a}','variables':{'a':{'default':"
            + "'${env:HOME}'}}}]",
        "'packageArguments':[{'type':'positional','value':'a\\u0007b'}]",
        "'environmentVariables':[{'name':'A','value':'${env:HOME}'}]",
        "'environmentVariables':[{'name':'A=B','value':'x'}]",
        "'environmentVariables':[{'name':'NODE_OPTIONS','value':'--require /tmp/x'}]",
        "'environmentVariables':[{'name':'npm_config_x','default':'y'}]",
        "'environmentVariables':[{'name':'mcp_bridge_key','isSecret':true}]",
        "'environmentVariables':[{'name':'LD_PRELOAD','value':'x'}]",
        "'environmentVariables':[{'name':'JDK_JAVA_OPTIONS','value':'x'}]",
        "'environmentVariables':[{'name':'https_proxy','value':'x'}]",
        "'environmentVariables':[{'name':'ALL_PROXY','value':'x'}]",
        "'environmentVariables':[{'name':'PERL5OPT','value':'x'}]",
        "'environmentVariables':[{'name':'RUBYOPT','value':'x'}]",
        "'environmentVariables':[{'name':'Home','value':'x'}]",
        "'environmentVariables':[{'name':'UV_INDEX','value':'x'}]",
        "'packageArguments':[{'type':'positional','value':'${o}{env:HOME}','variables':{'o':{}}}]",
        "'packageArguments':[{'type':'positional','value':'{o}{env:HOME}','variables':{'o':{}}}]",
        "'packageArguments':[{'type':'positional','value':'a$'}]"
      })
  void aHostileRegistryIsRefused(String members) {
    BridgeException refusal =
        assertThrows(BridgeException.class, () -> write(npm(members)), members);

    assertEquals(ErrorCode.INVALID_SERVER, refusal.code());
  }

  @Test
  void aReferenceThatIsPutTogetherFromPartsIsRefused() {
    RegistryServer server =
        npm(
            "'packageArguments':[{'type':'positional','value':'${a}','variables':{'a':{'default':"
                + "'env:HOME'}}},{'type':'positional','value':'{b}{c}','variables':{'b':{'default':"
                + "'$'},'c':{'default':'{env:HOME}'}}}]");

    assertThrows(BridgeException.class, () -> write(server));
    assertThrows(
        BridgeException.class,
        () ->
            write(
                npm(
                    "'packageArguments':[{'type':'positional','value':'{b}{c}','variables':"
                        + "{'b':{'default':'$'},'c':{'default':'{env:HOME}'}}}]")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'remotes':[{'type':'streamable-http','url':'http://weather.example/mcp'}]",
        "'remotes':[{'type':'websocket','url':'https://weather.example/mcp'}]",
        "'remotes':[{'type':'sse','url':'https://${env:HOME}.example/mcp'}]",
        "'packages':[{'registryType':'mcpb','identifier':'https://x/y.mcpb','version':'1'}]",
        "'packages':[{'registryType':'npm','identifier':'x','version':'1','transport':"
            + "{'type':'streamable-http','url':'http://localhost'}}]",
        "'packages':[{'registryType':'oci','identifier':'good/image','version':'1',"
            + "'runtimeArguments':[{'type':'positional','value':'evil/image'}]}]",
        "'packages':[{'registryType':'oci','identifier':'x','version':'1',"
            + "'registryBaseUrl':'file:///x'}]",
        "'packages':[]",
        "'packages':'all'"
      })
  void whatCannotBeUsedIsRefused(String members) {
    assertThrows(BridgeException.class, () -> write(server(members)));
  }

  @Test
  void textsOfARegistryAreOneLineWithoutControlCharacters() {
    RegistryServer server =
        server("'title':'x','packages':[{'registryType':'a\\nWrite it? [y/N] \\u001b[2J'}]");

    assertEquals("a Write it? [y/N] [2J", server.kinds().iterator().next());
  }

  @Test
  void aRefusalShowsNamesAndChoicesOfTheRegistryAsOneLine() {
    String forged = "x\\nWritten. \\u001b[2J";
    RegistryServer needed =
        npm(
            "'packageArguments':[{'type':'positional','valueHint':'"
                + forged
                + "','isRequired':true}]");
    RegistryServer chosen =
        npm("'environmentVariables':[{'name':'LEVEL','choices':['" + forged + "']}]");

    for (String message :
        List.of(
            assertThrows(BridgeException.class, () -> write(needed)).getMessage(),
            assertThrows(BridgeException.class, () -> write(chosen, "LEVEL=y")).getMessage())) {
      assertTrue(message.contains("x Written. [2J"), message);
    }
  }

  @Test
  void theKindCanBeChosen() {
    RegistryServer server =
        server(
            "'packages':[{'registryType':'npm','identifier':'x','version':'1'},"
                + "{'registryType':'pypi','identifier':'y','version':'1'}],"
                + "'remotes':[{'type':'sse','url':'https://w.example/sse'}]");

    assertEquals(
        "{'type':'sse','url':'https://w.example/sse'}",
        json(EntryWriter.write(server, "remote", Map.of())));
    assertEquals(
        "uvx", EntryWriter.write(server, "pypi", Map.of()).json().path("command").asText());
    assertEquals(
        true,
        assertThrows(BridgeException.class, () -> EntryWriter.write(server, "oci", Map.of()))
            .getMessage()
            .contains("npm, pypi, remote"));
  }
}
