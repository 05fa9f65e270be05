package dev.mcpbridge.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a tool looks in a profile, and which arguments reach its server. */
class ToolShapeTest {
  private static final Tool TOOL =
      Tool.of(
          slice(
              "{'name':'search','x-own':1.0,'description':'Finds.','inputSchema':{'type':'object',"
                  + "'properties':{'owner':{'type':'string'},'repo':{'type':'string'},"
                  + "'limit':{'type':'integer','maximum':1e2},'text':{'type':'string'}},"
                  + "'required':['owner','limit','text'],'additionalProperties':false}}"));

  private static final ToolShape SHAPE =
      new ToolShape(
          "find",
          "Finds \"bugs\".",
          Map.of(
              "owner", new Parameter(false, slice("'acme'"), null),
              "repo", new Parameter(false, null, null),
              "limit", new Parameter(true, slice("10.0"), null),
              "text", new Parameter(true, null, "Words.")));

  private static JsonSlice slice(String json) {
    return JsonSlice.of(json.replace('\'', '"'));
  }

  private static Arguments arguments(String json) {
    return Arguments.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), 20);
  }

  private static String sent(String given) {
    return SHAPE.arguments(arguments(given)).json().text().replace('"', '\'');
  }

  @Test
  void aToolShowsWhatItsShapeSays() throws Exception {
    Tool shaped = SHAPE.shaped(TOOL);

    JsonNode schema = Json.tree(shaped.inputSchema());
    assertEquals("search", shaped.name());
    assertEquals("Finds \"bugs\".", shaped.description());
    assertEquals(List.of("limit", "text"), names(schema.path("properties")));
    assertEquals("[\"text\"]", schema.path("required").toString());
    assertEquals("Words.", schema.at("/properties/text/description").asText());
    assertEquals(false, schema.path("additionalProperties").asBoolean(true));
  }

  @Test
  void numbersAndUnknownMembersOfADefinitionAreUnchanged() {
    String definition = SHAPE.shaped(TOOL).definition().text();

    assertEquals(true, definition.contains("\"x-own\":1.0"), definition);
    assertEquals(true, definition.contains("\"maximum\":1e2,\"default\":10.0"), definition);
  }

  @Test
  void aToolWithoutAShapeIsTheSame() {
    assertSame(TOOL, ToolShape.PLAIN.shaped(TOOL));
    Arguments given = arguments("{'owner':'x'}");
    assertSame(given, ToolShape.PLAIN.arguments(given));
  }

  @Test
  void aRequiredListThatGetsEmptyIsLeftOut() throws Exception {
    Tool tool =
        Tool.of(
            slice(
                "{'name':'t','inputSchema':{'type':'object','properties':{'owner':{}},"
                    + "'required':['owner']}}"));

    JsonNode schema = Json.tree(SHAPE.shaped(tool).inputSchema());

    assertEquals("{\"type\":\"object\",\"properties\":{}}", schema.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"{'name':'t'}", "{'name':'t','inputSchema':[]}"})
  void aToolWithoutASchemaHasNone(String definition) {
    assertNull(SHAPE.shaped(Tool.of(slice(definition))).inputSchema());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'name':'t','inputSchema':{'properties':true}}",
        "{'name':'t','inputSchema':{'properties':{'limit':true,'text':false},'required':{}}}",
        "{'name':'t','inputSchema':{'required':[1,null,'owner']}}"
      })
  void anOddSchemaIsShapedAsFarAsItCan(String definition) {
    JsonSlice shaped = SHAPE.shaped(Tool.of(slice(definition))).inputSchema();

    assertEquals(true, shaped.isObject(), shaped.text());
    assertEquals(false, shaped.text().contains("owner"), shaped.text());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'text':'a'}; {'text':'a','limit':10.0,'owner':'acme'}",
        "{'limit':3,'text':'a'}; {'limit':3,'text':'a','owner':'acme'}",
        "{'limit':null}; {'limit':10.0,'owner':'acme'}",
        "{'other':1e3,'text':null}; {'other':1e3,'text':null,'limit':10.0,'owner':'acme'}"
      })
  void valuesOfTheProfileAreSent(String given, String expected) throws Exception {
    assertEquals(Json.tree(slice(expected)), Json.tree(slice(sent(given))));
  }

  @Test
  void numbersOfTheCallerKeepTheirDigits() {
    String sent = sent("{'text':1.10}");

    assertEquals(true, sent.contains("'text':1.10"), sent);
    assertEquals(true, sent.contains("'limit':10.0"), sent);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'owner':'evil'}",
        "{'owner':'acme'}",
        "{'owner':null}",
        "{'repo':'x','text':'a'}",
        "{'\\u006fwner':'evil'}",
        "{'Owner':'evil'}",
        "{'OWNER':'evil','text':'a'}"
      })
  void aHiddenParameterCannotBeSet(String given) {
    BridgeException refusal =
        assertThrows(BridgeException.class, () -> SHAPE.arguments(arguments(given)));

    assertEquals(ErrorCode.INVALID_ARGUMENTS, refusal.code());
    String name = given.contains("repo") ? "repo" : "owner";
    assertEquals(
        "['" + name + "' is not a parameter of this tool]",
        refusal.members().get("errors").toString().toLowerCase(Locale.ROOT));
  }

  @Test
  void aRefusalNamesOnlySomeOfManyHiddenParameters() {
    String many =
        IntStream.range(0, 32)
            .mapToObj(ToolShapeTest::variant)
            .map(name -> "'" + name + "':1")
            .collect(Collectors.joining(",", "{", "}"));

    BridgeException refusal =
        assertThrows(BridgeException.class, () -> SHAPE.arguments(arguments(many)));

    assertEquals(20, ((List<?>) refusal.members().get("errors")).size());
  }

  /** The name of a hidden parameter in one of its 32 cases of letters. */
  private static String variant(int bits) {
    StringBuilder name = new StringBuilder("owner");
    for (int i = 0; i < name.length(); i++) {
      if ((bits >> i & 1) == 1) {
        name.setCharAt(i, Character.toUpperCase(name.charAt(i)));
      }
    }
    return name.toString();
  }

  @Test
  void partsOfAShapeWithoutEffectAreReported() {
    ToolShape shape =
        new ToolShape(
            null,
            null,
            Map.of(
                "owner", new Parameter(false, null, null),
                "nothing", new Parameter(true, slice("1"), null)));

    assertEquals(
        List.of(
            "its parameter 'owner' is required, but hidden",
            "the server does not list its parameter 'nothing'"),
        shape.problems(TOOL).stream().sorted().toList());
    assertEquals(List.of(), SHAPE.problems(TOOL));
  }

  private static List<String> names(JsonNode object) {
    return object.properties().stream().map(Map.Entry::getKey).sorted().toList();
  }
}
