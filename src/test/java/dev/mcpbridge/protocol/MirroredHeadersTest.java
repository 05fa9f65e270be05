package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers that mirror the body of a stateless request, and the schemas that ask for them. */
class MirroredHeadersTest {
  private static final String META =
      "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}";

  private final MirroredHeaders headers = new MirroredHeaders();

  private static JsonSlice json(String text) {
    return JsonSlice.of(text.replace('\'', '"'));
  }

  private static Map<String, JsonSlice> params(String members) {
    return JsonObjects.members(json("{" + members + "," + META + "}"));
  }

  private static String tool(String name, String schema) {
    return "{'name':'" + name + "','inputSchema':" + schema + "}";
  }

  private static String annotated(String annotation) {
    return "{'type':'object','properties':{'region':" + annotation + "}}";
  }

  private void record(String schema) {
    headers.recordTools(json("{'tools':[" + tool("t", schema) + "]}"));
  }

  private boolean isUsable(String schema) {
    String page = headers.recordTools(json("{'tools':[" + tool("other", schema) + "]}")).text();
    return page.contains("other");
  }

  @Test
  void versionMethodAndNameAreMirrored() {
    assertEquals(
        Map.of("mcp-protocol-version", "2026-07-28", "mcp-method", "tools/call", "mcp-name", "t"),
        headers.of("tools/call", params("'name':'t'")));
    assertEquals(
        "file:///a", headers.of("resources/read", params("'uri':'file:///a'")).get("mcp-name"));
    assertEquals(
        Map.of("mcp-protocol-version", "2026-07-28", "mcp-method", "tools/list"),
        headers.of("tools/list", params("'cursor':'1'")));
  }

  @Test
  void aRequestIsStatelessByTheVersionInItsMeta() {
    assertTrue(MirroredHeaders.isStateless(params("'name':'t'")));
    assertFalse(MirroredHeaders.isStateless(JsonObjects.members(json("{'_meta':{'x':1}}"))));
    assertFalse(MirroredHeaders.isStateless(Map.of()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      quoteCharacter = '~',
      textBlock =
          """
          'eu-west 1'    => eu-west 1
          'grüße'        => =?base64?Z3LDvMOfZQ==?=
          ' x'           => =?base64?IHg=?=
          'x '           => =?base64?eCA=?=
          'a\\nb'        => =?base64?YQpi?=
          '\\u007f'      => =?base64?fw==?=
          '=?base64?'    => =?base64?PT9iYXNlNjQ/?=
          ''             => ~~
          12             => 12
          true           => true
          """)
  void argumentsAreMirroredAsTheSchemaAsks(String argument, String header) {
    record(annotated("{'type':'string','x-mcp-header':'Region'}"));
    assertEquals(
        header,
        headers
            .of("tools/call", params("'name':'t','arguments':{'region':" + argument + "}"))
            .get("mcp-param-Region"));
  }

  @Test
  void nestedArgumentsAreMirroredAndMissingOnesAreNot() {
    record(
        "{'type':'object','properties':{'a':{'type':'object','properties':"
            + "{'b':{'type':'integer','x-mcp-header':'Deep'}}},"
            + "'c':{'type':'string','x-mcp-header':'Top'}}}");

    Map<String, String> sent =
        headers.of("tools/call", params("'name':'t','arguments':{'a':{'b':5},'c':null}"));

    assertEquals("5", sent.get("mcp-param-Deep"));
    assertFalse(sent.containsKey("mcp-param-Top"));
    for (String without : new String[] {"", ",'arguments':{'a':1}", ",'arguments':[]"}) {
      assertFalse(
          headers.of("tools/call", params("'name':'t'" + without)).containsKey("mcp-param-Deep"));
    }
  }

  @Test
  void onlyCallsOfTheToolHaveItsHeaders() {
    record(annotated("{'type':'string','x-mcp-header':'Region'}"));
    String arguments = ",'arguments':{'region':'x'}";

    assertFalse(
        headers
            .of("tools/call", params("'name':'other'" + arguments))
            .containsKey("mcp-param-Region"));
    assertFalse(
        headers
            .of("prompts/get", params("'name':'t'" + arguments))
            .containsKey("mcp-param-Region"));
  }

  @Test
  void listedToolsAreKnownByName() {
    record("{}");

    assertTrue(headers.isListed("t"));
    assertFalse(headers.isListed("other"));
  }

  @Test
  void aPageWithoutInvalidAnnotationsIsUnchanged() {
    JsonSlice page = json("{'tools':[" + tool("t", "{}") + "],'nextCursor':'1'}");
    JsonSlice none = json("{'prompts':[]}");

    assertSame(page, headers.recordTools(page));
    assertSame(none, headers.recordTools(none));
  }

  @Test
  void toolsWithInvalidAnnotationsAreRemovedFromTheirPage() {
    String bad = tool("bad", annotated("{'type':'number','x-mcp-header':'N'}"));

    String page =
        headers
            .recordTools(json("{'tools':[" + tool("t", "{}") + "," + bad + "],'nextCursor':'1'}"))
            .text();

    assertEquals(json("{'tools':[" + tool("t", "{}") + "],'nextCursor':'1'}").text(), page);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}",
        "{'properties':{'a':{'type':'integer','x-mcp-header':'A'}}}",
        "{'properties':{'a':{'type':'boolean','x-mcp-header':\"!#$%&'*+.^_`|~-9aZ\"}}}",
        "{'properties':{'a':{'properties':{'b':{'type':'string','x-mcp-header':'A'}}}}}",
        "{'properties':{'x-mcp-header':{'type':'string'}}}",
        "{'properties':{'a':{'default':{'x-mcp-header':1}}}}",
        "{'properties':{'a':{'const':{'x-mcp-header':1}}}}",
        "{'properties':{'a':{'enum':[{'x-mcp-header':1}]}}}"
      })
  void annotationsThatAreValid(String schema) {
    assertTrue(isUsable(schema));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'x-mcp-header':'A','type':'string'}",
        "{'properties':{'a':{'type':'number','x-mcp-header':'A'}}}",
        "{'properties':{'a':{'type':['string'],'x-mcp-header':'A'}}}",
        "{'properties':{'a':{'x-mcp-header':'A'}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':''}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':'a b'}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':'a:b'}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':1}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':'A'},"
            + "'b':{'type':'string','x-mcp-header':'a'}}}",
        "{'properties':{'a':{'type':'array','items':{'type':'string','x-mcp-header':'A'}}}}",
        "{'anyOf':[{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}]}",
        "{'$defs':{'a':{'type':'string','x-mcp-header':'A'}}}",
        "{'properties':{'a':{'allOf':[{'properties':"
            + "{'b':{'type':'string','x-mcp-header':'A'}}}]}}}"
      })
  void annotationsThatAreInvalid(String schema) {
    assertFalse(isUsable(schema));
  }

  @Test
  void absentArgumentsAreVisitedWithoutAValue() {
    Map<String, JsonSlice> visited = new LinkedHashMap<>();

    HeaderAnnotations.visit(
        json(annotated("{'type':'string','x-mcp-header':'Region'}")),
        json("{'region':null}"),
        visited::put);

    assertEquals(1, visited.size());
    assertTrue(visited.containsKey("mcp-param-Region"));
    assertEquals(null, visited.get("mcp-param-Region"));
  }
}
