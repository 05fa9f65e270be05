package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.DocumentSource;
import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.dialect.Validator;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Reads APIs from documents in tests; single quotes stand for double quotes. */
final class Apis {
  private Apis() {}

  /** An inline document in the configuration, without further settings. */
  static Api inline(String text) {
    return read(null, text.getBytes(StandardCharsets.UTF_8));
  }

  /** A 3.1 document with these paths and components and a configured server. */
  static Api of(String paths, String components) {
    return at(
        "{'openapi':'3.1.0','info':{'title':'T','version':'1'},'paths':{"
            + paths
            + "},'components':{"
            + components
            + "}}");
  }

  /** A document of any version with a configured server. */
  static Api at(String document) {
    return read(
        URI.create("http://127.0.0.1:1/base/"),
        document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  static Api read(URI server, byte[] document) {
    return read(new DocumentSource.Inline(""), server, List.of(), document);
  }

  /**
   * @param servers confirmed servers other than the API's own
   */
  static Api read(DocumentSource from, URI server, List<URI> servers, byte[] document) {
    OpenApiSource.OperationFilter none =
        new OpenApiSource.OperationFilter(List.of(), List.of(), List.of(), List.of());
    return ApiReader.read(
        new OpenApiSource(
            from,
            server,
            servers,
            new HttpAccess(Map.of(), null, null),
            null,
            none,
            Map.of(),
            List.of(),
            null,
            false,
            true,
            300_000,
            100_000),
        document);
  }

  static JsonNode schema(Api api, String tool) {
    return definition(api, tool).path("inputSchema");
  }

  static JsonNode definition(Api api, String tool) {
    return tree(api.tools().get(tool).definition());
  }

  static JsonNode tree(JsonSlice slice) {
    try {
      return Json.tree(slice);
    } catch (IOException e) {
      throw new AssertionError(slice.text(), e);
    }
  }

  /** Asserts validity against the 2020-12 meta-schema and that all references resolve. */
  static void assertValid(JsonNode schema) {
    assertEquals(List.of(), Validator.schemaErrors(schema));
    for (JsonNode reference : schema.findValues("$ref")) {
      if (reference.isTextual()) {
        String pointer = reference.asText().substring(1);
        if (schema.at(pointer).isMissingNode()) {
          throw new AssertionError("dangling reference: " + reference);
        }
      }
    }
  }
}
