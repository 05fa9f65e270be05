package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.DocumentSource;
import dev.mcpbridge.dialect.SchemaDialect;
import dev.mcpbridge.fixture.RawJson;
import dev.mcpbridge.fixture.Requirements;
import io.swagger.parser.OpenAPIParser;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.parser.core.models.ParseOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Published documents of real APIs: every operation becomes a tool. */
class RealDocumentsIT {
  private static final URI SERVER = URI.create("https://api.example/base");
  private static final List<URI> CONFIRMED_ORIGINS =
      Stream.of(
              "https://uploads.github.com",
              "https://operation.example.com",
              "https://path.example.com",
              "https://path-item-ref.example.com",
              "https://empty-operation-path.example.com",
              "https://httpbin.com")
          .map(URI::create)
          .toList();
  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "options", "head", "patch");
  private static final String GITHUB = "@octokit/openapi/generated/api.github.com.json";
  private static final String KUBERNETES = "kubernetes-client/lib/specs/swagger-1.13.json.gz";
  private static final String FIGMA = "@figma/rest-api-spec/openapi/openapi.yaml";

  static Stream<String> documents() throws IOException {
    Path examples = Requirements.npmProgram("@readme/oas-examples");
    try (Stream<Path> files = Files.walk(examples)) {
      List<String> all =
          new ArrayList<>(
              files
                  .map(file -> examples.relativize(file).toString())
                  .filter(file -> file.matches("[23]\\.[01]/(json|yaml)/[^/]+\\.(json|yaml)"))
                  .sorted()
                  .map(file -> "@readme/oas-examples/" + file)
                  .toList());
      assertTrue(all.size() > 80, "too few examples");
      all.addAll(List.of(GITHUB, KUBERNETES, FIGMA));
      return all.stream();
    }
  }

  @ParameterizedTest
  @MethodSource("documents")
  void everyOperationBecomesAValidTool(String file) throws Exception {
    byte[] text = text(file);
    long from = System.nanoTime();

    Api api = Apis.read(new DocumentSource.Inline(""), SERVER, CONFIRMED_ORIGINS, text);

    System.out.printf("%s: %d ms%n", file, (System.nanoTime() - from) / 1_000_000);
    assertEquals(operations(text), places(api), String.join("\n", api.reductions()));
    for (Map.Entry<String, Api.OfferedOperation> tool : api.tools().entrySet()) {
      assertTrue(tool.getKey().matches("[A-Za-z0-9_-]{1,64}"), tool.getKey());
      JsonNode definition = Apis.tree(tool.getValue().definition());
      assertEquals(tool.getKey(), definition.path("name").asText());
      JsonNode input = definition.path("inputSchema");
      Apis.assertValid(input);
      if (definition.has("outputSchema")) {
        Apis.assertValid(definition.path("outputSchema"));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "@readme/oas-examples/3.1/json/petstore.json",
        "@readme/oas-examples/3.0/json/star-trek.json",
        "@readme/oas-examples/3.0/yaml/schema-circular.yaml",
        "@readme/oas-examples/3.1/yaml/schema-types.yaml",
        "@readme/oas-examples/3.0/yaml/polymorphism.yaml",
        "@readme/oas-examples/3.1/json/readme.json",
        GITHUB,
        FIGMA
      })
  void schemasAreValidInEveryProviderDialect(String file) throws Exception {
    for (Api.OfferedOperation tool : Apis.read(SERVER, text(file)).tools().values()) {
      JsonNode input = Apis.tree(tool.definition()).path("inputSchema");
      for (SchemaDialect dialect : SchemaDialect.values()) {
        JsonNode reduced = dialect.reduce(input).schema();
        Apis.assertValid(reduced);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2.0/json/petstore.json,2.0/yaml/petstore.yaml",
    "3.0/json/petstore.json,3.0/yaml/petstore.yaml",
    "3.1/json/petstore.json,3.1/yaml/petstore.yaml",
    "3.0/json/star-trek.json,3.0/yaml/star-trek.yaml"
  })
  void jsonAndYamlYieldTheSameTools(String json, String yaml) throws Exception {
    Api fromJson = Apis.read(SERVER, text("@readme/oas-examples/" + json));
    Api fromYaml = Apis.read(SERVER, text("@readme/oas-examples/" + yaml));

    assertEquals(fromJson.tools().keySet(), fromYaml.tools().keySet());
    for (String tool : fromJson.tools().keySet()) {
      assertEquals(
          Apis.definition(fromJson, tool).toString(), Apis.definition(fromYaml, tool).toString());
    }
  }

  @Test
  void githubUploadsNeedAConfirmedServer() throws Exception {
    Api strict = Apis.read(null, text(GITHUB));
    Api open = Apis.read(new DocumentSource.Inline(""), null, CONFIRMED_ORIGINS, text(GITHUB));

    assertFalse(strict.tools().containsKey("repos_upload-release-asset"));
    assertTrue(strict.reductions().toString().contains("https://uploads.github.com"));
    Operation upload = open.tools().get("repos_upload-release-asset").operation();
    assertEquals("https://uploads.github.com", upload.server().toString());
  }

  @Test
  void githubDocumentIsReadCorrectly() throws Exception {
    Api api = Apis.read(null, text(GITHUB));

    assertEquals("https://api.github.com", api.base().toString());
    Operation issue = api.tools().get("issues_create").operation();
    assertEquals("POST /repos/{owner}/{repo}/issues", issue.method() + " " + issue.path());
    JsonNode schema = Apis.schema(api, "issues_create");
    assertEquals(RawJson.tree("['owner','repo']"), schema.path("required"));
    assertEquals("string", schema.at("/properties/owner/type").asText());
  }

  /** Compares the parameters with those that swagger-parser finds. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "@readme/oas-examples/2.0/json/petstore.json",
        "@readme/oas-examples/3.0/json/petstore.json",
        "@readme/oas-examples/3.1/json/petstore.json",
        GITHUB
      })
  void anotherParserFindsTheSameParameters(String file) throws Exception {
    byte[] text = text(file);
    ParseOptions options = new ParseOptions();
    options.setResolve(true);
    OpenAPI theirs =
        new OpenAPIParser()
            .readContents(new String(text, StandardCharsets.UTF_8), null, options)
            .getOpenAPI();
    TreeMap<String, Set<String>> expected = new TreeMap<>();
    theirs
        .getPaths()
        .forEach(
            (path, item) ->
                item.readOperationsMap()
                    .forEach(
                        (method, operation) ->
                            expected.put(
                                method + " " + path,
                                names(item.getParameters(), operation.getParameters()))));

    TreeMap<String, Set<String>> ours = new TreeMap<>();
    for (Api.OfferedOperation tool :
        Apis.read(new DocumentSource.Inline(""), SERVER, CONFIRMED_ORIGINS, text)
            .tools()
            .values()) {
      Operation operation = tool.operation();
      Set<String> names = new TreeSet<>();
      operation
          .parameters()
          .forEach(each -> names.add(each.in().name().toLowerCase() + " " + each.name()));
      ours.put(operation.method() + " " + operation.path(), names);
    }
    assertEquals(expected, ours);
    assertTrue(
        ours.values().stream().anyMatch(names -> names.size() > 1),
        "no operation has several parameters");
  }

  /** Excludes headers that OpenAPI defines elsewhere (3.1 section 4.8.12.2.1). */
  private static Set<String> names(List<Parameter> common, List<Parameter> own) {
    Set<String> names = new TreeSet<>();
    Stream.of(common, own)
        .filter(Objects::nonNull)
        .flatMap(List::stream)
        .map(each -> each.getIn() + " " + each.getName())
        .filter(name -> !name.toLowerCase().matches("header (accept|content-type|authorization)"))
        .forEach(names::add);
    return names;
  }

  private static TreeMap<String, Integer> places(Api api) {
    TreeMap<String, Integer> places = new TreeMap<>();
    api.tools()
        .values()
        .forEach(
            tool -> {
              Operation operation = tool.operation();
              places.merge(operation.method() + " " + operation.path(), 1, Integer::sum);
            });
    return places;
  }

  /** Counts the operations without code of the bridge. */
  private static TreeMap<String, Integer> operations(byte[] text) {
    Object root =
        new Load(
                LoadSettings.builder()
                    .setMaxAliasesForCollections(10_000)
                    .setCodePointLimit(1 << 25)
                    .build())
            .loadFromString(new String(text, StandardCharsets.UTF_8));
    TreeMap<String, Integer> counts = new TreeMap<>();
    if (((Map<?, ?>) root).get("paths") instanceof Map<?, ?> paths) {
      paths.forEach(
          (path, item) ->
              ((Map<?, ?>) resolved(root, item))
                  .forEach(
                      (method, operation) -> {
                        if (METHODS.contains(method)) {
                          counts.merge(
                              String.valueOf(method).toUpperCase() + " " + path, 1, Integer::sum);
                        }
                      }));
    }
    return counts;
  }

  private static Object resolved(Object root, Object item) {
    if (!(((Map<?, ?>) item).get("$ref") instanceof String reference)) {
      return item;
    }
    Object target = root;
    for (String part : reference.substring(2).split("/")) {
      target = ((Map<?, ?>) target).get(part.replace("~1", "/").replace("~0", "~"));
    }
    return target;
  }

  private static byte[] text(String file) throws IOException {
    Path path = Requirements.npmProgram(file);
    if (!file.endsWith(".gz")) {
      return Files.readAllBytes(path);
    }
    try (InputStream in = new GZIPInputStream(Files.newInputStream(path))) {
      return in.readAllBytes();
    }
  }
}
