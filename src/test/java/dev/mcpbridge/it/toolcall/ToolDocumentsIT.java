package dev.mcpbridge.it.toolcall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.ClientProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** OpenAPI documents of tools, read by third-party programs. */
@Tag("toolcall")
class ToolDocumentsIT {
  private static final String ALL = "/tools/openapi.json";
  private static final String KEY = ApiKeys.generate();

  /** Valid and invalid schemas and names of tools. */
  private static final String AWKWARD =
      """
      [{"name": "defs", "inputSchema": {"type": "object",
         "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
         "properties": {"head": {"$ref": "#/$defs/node"}}}},
       {"name": "recursion", "inputSchema": {"type": "object",
         "properties": {"child": {"$ref": "#"}, "all": {"type": "array", "items": {"$ref": "#"}}}}},
       {"name": "definitions", "inputSchema": {"type": "object",
         "definitions": {"a b": {"type": "string"}, "c/d": {"type": "string"}},
         "properties": {"x": {"$ref": "#/definitions/a%20b"}, "y": {"$ref": "#/definitions/c~1d"}}}},
       {"name": "booleans", "inputSchema": {"type": "object",
         "properties": {"any": true, "none": false}, "additionalProperties": false}},
       {"name": "identified", "inputSchema": {"$id": "https://example.com/s", "type": "object",
         "$schema": "http://json-schema.org/draft-07/schema#",
         "properties": {"x": {"$ref": "#/properties/y"}, "y": {"$anchor": "why", "type": "string"}}}},
       {"name": "anchored", "inputSchema": {"type": "object", "$defs": {"p": {"$anchor": "p",
         "type": "string"}}, "properties": {"x": {"$ref": "#p"}}}},
       {"name": "elsewhere", "inputSchema": {"type": "object",
         "properties": {"x": {"$ref": "https://example.com/other.json"}}}},
       {"name": "dangling", "inputSchema": {"type": "object",
         "properties": {"x": {"$ref": "#/$defs/missing"}}}},
       {"name": "draft4", "inputSchema": {"type": "object", "properties": {"x": {"type": "number",
         "minimum": 0, "exclusiveMinimum": true}, "y": {"items": [{"type": "string"}]}}}},
       {"name": "invalid", "inputSchema": {"type": "objekt", "properties": {"x": 7,
         "y": {"required": "yes", "minimum": "0"}}, "required": true}},
       {"name": "list", "inputSchema": []},
       {"name": "none"},
       {"name": "a.b", "inputSchema": {"type": "object"}},
       {"name": "a/b", "inputSchema": {"type": "object"}},
       {"name": "a_b", "inputSchema": {"type": "object"}},
       {"name": "a b{c}?d#e%20", "inputSchema": {"type": "object"}},
       {"name": "größe天", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object",
         "properties": {"tool": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}}}]
      """;

  private static final String SHOP =
      """
      [{"name": "total", "title": "Adds up", "inputSchema": {"type": "object",
         "required": ["currency"],
         "properties": {"currency": {"enum": ["EUR", "USD"]},
           "items": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
         "$defs": {"item": {"type": "object", "required": ["price"],
           "properties": {"price": {"type": "number"},
             "parts": {"type": "array", "items": {"$ref": "#/$defs/item"}}}}}},
        "outputSchema": {"type": "object", "required": ["tool", "arguments"],
          "properties": {"tool": {"type": "string"},
            "arguments": {"type": "object", "properties": {"currency": {"type": "string"}}}}}},
       {"name": "refund", "inputSchema": {"type": "object"}}]
      """;

  @TempDir static Path folder;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.of(
                """
            {'mcpServers':{'git':{'builtin':'git','args':['--root','%s']},
            'one':%s,'two':%s,'odd':%s,'shop':%s}}"""
                    .formatted(
                        folder,
                        TestBridge.entry(""),
                        TestBridge.entry("'risk':{'tools':{'big':2}}"),
                        CatalogueServer.entry(folder.resolve("odd"), AWKWARD, ""),
                        CatalogueServer.entry(
                            folder.resolve("shop"), SHOP, "'risk':{'tools':{'refund':2}}")))
            .awaitReady("git", "one", "two", "odd", "shop");
  }

  private static JsonNode document(String path) throws Exception {
    Answer answer = bridge.get(path);
    assertEquals(200, answer.status(), path + " " + answer);
    assertEquals("application/json", answer.header("content-type"));
    return answer.body();
  }

  @Test
  void documentsAndTheirSchemasAreValid() throws Exception {
    List<String> files = new ArrayList<>();
    for (String server : List.of("git", "one", "odd", "shop")) {
      files.add(saved(server, "/servers/" + server + "/openapi.json"));
    }
    files.add(saved("all", ALL));
    Path list = folder.resolve("files.json");
    Files.writeString(list, Json.mapper().writeValueAsString(files));

    JsonNode problems = ClientProgram.node(folder, "documents.mjs", list);

    assertEquals("[]", problems.toString());
  }

  private static String saved(String name, String path) throws Exception {
    return Files.writeString(folder.resolve(name + ".json"), document(path).toString()).toString();
  }

  @Test
  void everyToolHasAnOperationThatCallsIt() throws Exception {
    JsonNode paths = document("/servers/odd/openapi.json").path("paths");
    JsonNode tools = bridge.get("/servers/odd/tools").body().path("tools");
    Set<String> called = new HashSet<>();

    for (Map.Entry<String, JsonNode> path : paths.properties()) {
      Answer answer = bridge.post(path.getKey(), "{\"v\":1}");
      String name = path.getValue().at("/post/operationId").asText();
      if (name.equals("booleans")) {
        assertEquals(422, answer.status(), answer.toString());
        called.add(name);
      } else {
        assertEquals(200, answer.status(), path.getKey() + " " + answer);
        assertEquals(name, answer.at("/structuredContent/tool"));
        called.add(answer.at("/structuredContent/tool"));
      }
    }

    assertEquals(tools.size(), paths.size());
    assertEquals(tools.size(), called.size());
  }

  @Test
  void documentSchemasMatchTheToolSchemas() throws Exception {
    JsonNode schemas = document("/servers/odd/openapi.json").at("/components/schemas");

    assertEquals(
        "#/components/schemas/defs.input.node",
        schemas.at("/defs.input/properties/head/$ref").asText());
    assertEquals(
        "#/components/schemas/recursion.input",
        schemas.at("/recursion.input/properties/child/$ref").asText());
    assertEquals("{}", schemas.at("/booleans.input/properties/any").toString());
    assertEquals("{\"not\":{}}", schemas.at("/booleans.input/properties/none").toString());
  }

  /** Tested separately: many programs treat these as references, contrary to the standard. */
  @Test
  void literalRefMembersStayUnchanged() throws Exception {
    String tools =
        """
        [{"name": "named_ref", "inputSchema": {"type": "object", "properties": {
           "$ref": {"type": "string"}, "enum": {"$ref": "#/properties/$ref"},
           "v": {"const": {"$ref": "#/x"}}, "w": {"enum": [{"$ref": "#/y"}]}}}}]
        """;
    String entry = CatalogueServer.entry(folder.resolve("literal"), tools, "");
    try (TestBridge own = TestBridge.of("{'mcpServers':{'s':" + entry + "}}")) {
      JsonNode schemas = own.get("/servers/s/openapi.json").body().at("/components/schemas");
      JsonNode named = schemas.at("/named_ref.input/properties");

      assertEquals("string", named.at("/$ref/type").asText(), named.toString());
      assertEquals(
          "#/components/schemas/named_ref.input/properties/$ref", named.at("/enum/$ref").asText());
      assertEquals("{\"$ref\":\"#/x\"}", named.at("/v/const").toString());
      assertEquals("[{\"$ref\":\"#/y\"}]", named.at("/w/enum").toString());
    }
  }

  @Test
  void combinedDocumentDistinguishesEqualToolNames() throws Exception {
    JsonNode paths = document(ALL).path("paths");
    Set<String> ids = new HashSet<>();
    paths.forEach(path -> ids.add(path.at("/post/operationId").asText()));

    assertEquals(paths.size(), ids.size());
    assertTrue(ids.containsAll(List.of("one__echo", "two__echo")), ids.toString());
    for (String server : List.of("one", "two")) {
      JsonNode echo = paths.path("/servers/" + server + "/tools/echo").path("post");
      assertEquals(server, echo.at("/tags/0").asText());
      assertTrue(
          bridge
              .post("/servers/" + server + "/tools/echo", "{\"a\":1.10}")
              .text()
              .contains("1.10"));
    }
    String risky = paths.path("/servers/two/tools/big").toString();
    String plain = paths.path("/servers/one/tools/big").toString();
    assertNotEquals(plain.replace("one", "two"), risky, "the confirmation is not declared");
  }

  @Test
  void operationsAreSecuredAndServedByTheRequestedHost() throws Exception {
    JsonNode document = document(ALL);

    assertTrue(document.path("openapi").asText().startsWith("3.1."), document.path("openapi") + "");
    assertTrue(document.path("security").size() > 0, "no security is declared");
    JsonNode schemes = document.at("/components/securitySchemes");
    document
        .path("security")
        .forEach(
            requirement ->
                requirement.fieldNames().forEachRemaining(n -> assertTrue(schemes.has(n), n)));
    assertEquals(bridge.uri("").toString(), document.at("/servers/0/url").asText());
    String local = "http://localhost:" + bridge.port();
    HttpRequest request = HttpRequest.newBuilder(URI.create(local + ALL)).build();
    String body = bridge.client().send(request, HttpResponse.BodyHandlers.ofString()).body();
    assertEquals(local, Json.mapper().readTree(body).at("/servers/0/url").asText());
  }

  @ParameterizedTest
  @ValueSource(strings = {ALL, "/servers/one/openapi.json"})
  void documentIsSentAgainOnlyAfterAChange(String path) throws Exception {
    String tag = bridge.get(path).header("etag");

    assertNotNull(tag);
    Answer again = bridge.get(path, "if-none-match", tag);
    assertEquals(304, again.status());
    assertEquals("", again.text());
    bridge.post("/servers/one/tools/grow", "{}");
    bridge.until(() -> bridge.get(path, "if-none-match", tag).status() == 200);
    assertTrue(bridge.get(path).text().contains("/servers/one/tools/grown_"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nope", "..%2F", "a%20b", "%F0%9F%8E%89"})
  void unknownServerHasNoDocument(String server) throws Exception {
    Answer answer = bridge.get("/servers/" + server + "/openapi.json");

    assertEquals(404, answer.status());
    assertEquals("server_not_found", answer.code());
  }

  @Test
  void documentRequiresAKeyIfKeysAreConfigured() throws Exception {
    try (TestBridge own =
        TestBridge.of(
            "{'auth':{'keys':[%s]},'mcpServers':{'s':%s}}"
                .formatted(TestBridge.key("k", KEY, "'read'"), TestBridge.entry("")))) {
      for (String path : List.of(ALL, "/servers/s/openapi.json")) {
        assertEquals(401, own.get(path).status());
        Answer authorized = own.get(path, "x-api-key", KEY);
        assertEquals(200, authorized.status());
        assertTrue(
            authorized.body().path("paths").has("/servers/s/tools/echo"), authorized.toString());
        assertFalse(authorized.text().contains(KEY));
        assertEquals(401, own.get(path, "if-none-match", authorized.header("etag")).status());
      }
    }
  }

  @Test
  void generatedTypeScriptClientCallsATool() throws Exception {
    JsonNode report =
        ClientProgram.node(
            folder,
            "generated-client.mjs",
            bridge.uri("/servers/shop/openapi.json"),
            Path.of("src/test/node/program.ts").toAbsolutePath(),
            generated("shop"));

    assertEquals("[]", report.path("problems").toString());
    assertEquals("total", report.at("/result/tool").asText(), report.toString());
    assertEquals("EUR", report.at("/result/currency").asText());
    assertEquals(422, report.at("/result/refused").asInt());
    assertEquals("refund", report.at("/result/confirmed").asText());
  }

  @Test
  void generatedPythonClientDistinguishesConfirmations() throws Exception {
    JsonNode report =
        ClientProgram.python(
            folder,
            "generated_client.py",
            saved("python", "/servers/shop/openapi.json"),
            folder.resolve("shop_client"),
            bridge.uri(""));

    assertEquals("TotalResult", report.at("/total/type").asText(), report.toString());
    assertEquals("EUR", report.at("/total/currency").asText());
    assertEquals("Confirmation", report.at("/refund/type").asText());
    assertEquals("refund", report.at("/refund/tool").asText());
    assertEquals("ToolResult", report.at("/refunded/type").asText());
  }

  /** Next to the packages that the client needs. */
  private static String generated(String name) {
    return Path.of(".tools/node/generated", name).toAbsolutePath().toString();
  }
}
