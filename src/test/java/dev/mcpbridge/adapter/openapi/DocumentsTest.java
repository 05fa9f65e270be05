package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.adapter.Omissions;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.RawJson;
import dev.mcpbridge.protocol.JsonSlice;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Invalid, hostile and unusual documents. */
class DocumentsTest {
  private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

  static Stream<Arguments> unusable() {
    return Stream.of(
        Arguments.of("a page", "<!DOCTYPE html>\n<html><body>Log in: please</body></html>", ""),
        Arguments.of("no text", "", "empty"),
        Arguments.of("spaces", " \n\t ", "empty"),
        Arguments.of("an array", "[]", "not an object"),
        Arguments.of("a string", "\"x\"", "not an object"),
        Arguments.of("null", "null", "not an object"),
        Arguments.of("no version", "{\"paths\":{}}", "no 'openapi'"),
        Arguments.of("a later version", "{\"openapi\":\"4.0.0\"}", "4.0.0 is not supported"),
        Arguments.of("an earlier version", "{\"swagger\":\"1.2\"}", "no 'openapi'"),
        Arguments.of("broken JSON", "{\"openapi\":\"3.1.0\",", "not JSON"),
        Arguments.of("two documents", "{\"openapi\":\"3.1.0\"} {}", "not JSON"),
        Arguments.of(
            "a duplicate member", "{\"openapi\":\"3.1.0\",\"openapi\":\"3.1.0\"}", "openapi"),
        Arguments.of("a duplicate key", "openapi: 3.1.0\nopenapi: 3.0.0\n", "openapi"),
        Arguments.of("bytes", "\u0000\u0001\u0002\u0003", ""),
        Arguments.of("nine times nine aliases", wideBomb(), ""),
        Arguments.of("two aliases in 25 levels", deepBomb(), ""),
        Arguments.of("a recursive anchor", "openapi: 3.1.0\npaths: &p\n  /x: *p\n", ""),
        Arguments.of("a Java type", "openapi: !!javax.script.ScriptEngineManager [x]\n", ""),
        Arguments.of(
            "another Java type",
            "openapi: 3.1.0\nx: !!javax.script.ScriptEngineManager [!!java.net.URLClassLoader "
                + "[[!!java.net.URL [\"http://127.0.0.1:1/\"]]]]\n",
            ""),
        Arguments.of(
            "JSON of 300 levels", deep("{\"openapi\":\"3.1.0\",\"x\":", "[", "]", 300), ""),
        Arguments.of(
            "JSON of 100,000 levels", deep("{\"openapi\":\"3.1.0\",\"x\":", "[", "]", 100_000), ""),
        Arguments.of("YAML of 300 levels", deep("openapi: 3.1.0\nx: ", "[", "]", 300), ""),
        Arguments.of("YAML of 100,000 levels", deep("openapi: 3.1.0\nx: ", "[", "]", 100_000), ""),
        Arguments.of(
            "a long number",
            "{\"openapi\":\"3.1.0\",\"x\":" + "9".repeat(1_000_000) + "}",
            "not JSON"),
        Arguments.of("a long number in YAML", "openapi: 3.1.0\nx: " + "9".repeat(1_000_000), ""),
        Arguments.of("a server path with ..", serving("https://api.example/a/../b"), "server"),
        Arguments.of("a server with a user", serving("https://u:p@api.example/"), "server"),
        Arguments.of("a file server", serving("file:///etc/passwd"), "server"),
        Arguments.of("a relative server", serving("/v1"), "set 'server'"),
        Arguments.of("an invalid server", serving("{scheme}://x"), "not a valid URL"),
        Arguments.of("no server", "{\"openapi\":\"3.1.0\",\"paths\":{}}", "set 'server'"));
  }

  private static String serving(String url) {
    return "{\"openapi\":\"3.1.0\",\"paths\":{},\"servers\":[{\"url\":\"" + url + "\"}]}";
  }

  private static String wideBomb() {
    StringBuilder yaml = new StringBuilder("openapi: 3.1.0\na0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++) {
      String alias = "*a" + (i - 1);
      yaml.append("a" + i + ": &a" + i + " [" + alias + (", " + alias).repeat(8) + "]\n");
    }
    return yaml.toString();
  }

  private static String deepBomb() {
    StringBuilder yaml = new StringBuilder("openapi: 3.1.0\na0: &a0 [x,x]\n");
    for (int i = 1; i <= 25; i++) {
      yaml.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }
    return yaml.toString();
  }

  private static String deep(String before, String open, String close, int levels) {
    return before
        + open.repeat(levels)
        + close.repeat(levels)
        + (before.startsWith("{") ? "}" : "\n");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("unusable")
  void invalidDocumentIsRejectedQuickly(String name, String text, String reason) {
    BridgeException failure =
        assertTimeoutPreemptively(
            TIME_LIMIT, () -> assertThrows(BridgeException.class, () -> Apis.inline(text)));

    assertEquals(ErrorCode.START_FAILED, failure.code());
    assertTrue(failure.getMessage().startsWith("The OpenAPI document cannot be used: "));
    assertTrue(failure.getMessage().contains(reason), failure.getMessage());
    assertTrue(failure.getMessage().length() < 1_000, "the message is too long");
  }

  @Test
  void cyclicReferencesTerminate() {
    Api api =
        Apis.of(
            "'/x':{'post':{'operationId':'x','requestBody':{'content':{'application/json':"
                + "{'schema':{'$ref':'#/components/schemas/A'}}}},'parameters':["
                + "{'$ref':'#/components/parameters/P'},{'name':'s','in':'query','schema':"
                + "{'$ref':'#/components/schemas/Self'}}]}},"
                + "'/y':{'$ref':'#/paths/~1z'},'/z':{'$ref':'#/paths/~1y'}",
            "'parameters':{'P':{'$ref':'#/components/parameters/Q'},"
                + "'Q':{'$ref':'#/components/parameters/P'}},'schemas':{"
                + "'A':{'type':'object','properties':{'b':{'$ref':'#/components/schemas/B'}}},"
                + "'B':{'type':'object','properties':{'a':{'$ref':'#/components/schemas/A'}}},"
                + "'Self':{'$ref':'#/components/schemas/Self'}}");

    JsonNode schema = Apis.schema(api, "x");
    assertEquals(Set.of("x"), api.tools().keySet());
    assertEquals("#/$defs/B", schema.at("/$defs/A/properties/b/$ref").asText());
    assertEquals("#/$defs/A", schema.at("/$defs/B/properties/a/$ref").asText());
    Apis.assertValid(schema);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:1/x.json",
        "https://api.example/x.json#/X",
        "file:///etc/passwd",
        "../other.json#/X",
        "#/nothing",
        "#/components/schemas/%zz",
        "#nowhere",
        "x:y",
        ""
      })
  void unresolvableReferencesAcceptAnything(String reference) {
    Api api =
        Apis.of(
            "'/x':{'get':{'operationId':'x','parameters':[{'name':'p','in':'query','schema':"
                + "{'$ref':'"
                + reference
                + "'}},{'$ref':'"
                + reference
                + "'}]}},"
                + "'/y':{'$ref':'"
                + reference
                + "'}",
            "'schemas':{}");

    JsonNode schema = Apis.schema(api, "x");
    assertEquals(RawJson.tree("{'p':{}}"), schema.path("properties"));
    Apis.assertValid(schema);
  }

  @Test
  void toolNamesDoNotDependOnTheOrder() {
    List<String> operations =
        List.of(
            "'/a':{'get':{'operationId':'same'}}",
            "'/b':{'get':{'operationId':'same'}}",
            "'/c':{'get':{'operationId':'a.b'}}",
            "'/d':{'get':{'operationId':'a/b'}}",
            "'/e':{'get':{'operationId':'" + "long".repeat(30) + "'}}",
            "'/f/{id}':{'get':{'parameters':[{'name':'id','in':'path'}]}}",
            "'/g':{'get':{'operationId':'größe äöü'}}",
            "'/h':{'get':{'operationId':'日本'}}");
    TreeMap<String, String> names = namesByPath(operations);

    assertEquals(8, new LinkedHashSet<>(names.values()).size());
    names.values().forEach(name -> assertTrue(name.matches("[A-Za-z0-9_-]{1,64}"), name));
    for (int i = 1; i < operations.size(); i++) {
      List<String> rotated =
          Stream.concat(
                  operations.subList(i, operations.size()).stream(),
                  operations.subList(0, i).stream())
              .toList();
      assertEquals(names, namesByPath(rotated));
    }
  }

  private static TreeMap<String, String> namesByPath(List<String> operations) {
    TreeMap<String, String> names = new TreeMap<>();
    Apis.of(String.join(",", operations), "")
        .tools()
        .forEach((name, offered) -> names.put(offered.operation().path(), name));
    return names;
  }

  @Test
  void unusableOperationsAreOmitted() {
    Api api =
        Apis.of(
            "'/x/{id}':{'get':{'operationId':'unfilled'}},"
                + "'/y':{'get':{'operationId':'fine'},'post':{'operationId':'needy','parameters':["
                + "{'name':'Host','in':'header','required':true}]},'put':'nonsense',"
                + "'parameters':{'no':'list'}},"
                + "'/z':{'get':{'operationId':'odd','parameters':[1,null,'x',{},{'in':'moon',"
                + "'name':'m'}]}},'relative':{'get':{'operationId':'relative'}},'/n':null",
            "");

    assertEquals(Set.of("fine", "odd"), api.tools().keySet());
    String lost = String.join("\n", api.reductions());
    assertTrue(
        lost.contains("GET /x/{id}: its path contains {id}, which is not a parameter"), lost);
    assertTrue(lost.contains("POST /y"), lost);
    assertEquals(Set.of("GET /x/{id}", "POST /y"), api.omitted().keySet());
    assertTrue(Omissions.of(api.omitted()).text().startsWith("{\"count\":2,\"operations\":[{"));
  }

  @Test
  void omissionsAreCountedAndTheFirstOnesNamed() {
    String operations =
        String.join(
            ",",
            IntStream.range(0, 1_000)
                .mapToObj(i -> "'/" + "long".repeat(1_000) + i + "/{id}':{'get':{}}")
                .toList());

    JsonSlice omissions = Omissions.of(Apis.of(operations, "").omitted());

    assertTrue(omissions.text().startsWith("{\"count\":1000,"), omissions.text());
    assertTrue(omissions.length() < 1 << 18, "size: " + omissions.length());
    assertEquals(200, omissions.text().split("\"reason\"").length - 1);
  }

  @Test
  void tenThousandOperationsAreReadInTime() {
    String operations =
        String.join(
            ",",
            IntStream.range(0, 10_000)
                .mapToObj(
                    i ->
                        "'/x"
                            + i
                            + "/{id}':{'post':{'operationId':'x','parameters':[{'$ref':"
                            + "'#/components/parameters/Id'}],'requestBody':{'content':{"
                            + "'application/json':{'schema':{'$ref':'#/components/schemas/A'}}}}}}")
                .toList());

    Api api =
        assertTimeoutPreemptively(
            Duration.ofSeconds(20),
            () ->
                Apis.of(
                    operations,
                    "'parameters':{'Id':{'name':'id','in':'path','schema':{'type':'string'}}},"
                        + "'schemas':{'A':{'type':'object','properties':{'a':{'$ref':"
                        + "'#/components/schemas/A'}}}}"));

    assertEquals(10_000, api.tools().size());
  }

  @Test
  void backtrackingPatternIsNotEvaluated() {
    JsonNode schema =
        assertTimeoutPreemptively(
            TIME_LIMIT,
            () ->
                Apis.schema(
                    Apis.of(
                        "'/x':{'get':{'operationId':'x','parameters':[{'name':'p','in':'query',"
                            + "'schema':{'type':'string','pattern':'^(a+)+$'}}]}}",
                        ""),
                    "x"));

    assertEquals("^(a+)+$", schema.at("/properties/p/pattern").asText());
    assertFalse(schema.has("$defs"));
  }
}
