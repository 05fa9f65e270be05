package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import dev.mcpbridge.config.DocumentSource;
import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** APIs read from what a test writes; single quotes stand for double ones. */
final class Apis {
  private static final Schema META =
      SchemaRegistry.withDialect(Dialects.getDraft202012())
          .getSchema(SchemaLocation.of(Dialects.getDraft202012().getId()));

  private Apis() {}

  /** As an operator writes it into the configuration, without more. */
  static Api inline(String text) {
    return read(null, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Of 3.1 with these paths and components, behind a server that the operator gave. */
  static Api of(String paths, String components) {
    return at(
        "{'openapi':'3.1.0','info':{'title':'T','version':'1'},'paths':{"
            + paths
            + "},'components':{"
            + components
            + "}}");
  }

  /** Of any version. */
  static Api at(String document) {
    return read(
        URI.create("http://127.0.0.1:1/base/"),
        document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  static Api read(URI server, byte[] document) {
    return read(new DocumentSource.Inline(""), server, List.of(), document);
  }

  /**
   * @param servers what the operator allows beside the API's own
   */
  static Api read(DocumentSource from, URI server, List<URI> servers, byte[] document) {
    OpenApiSource.Selection none =
        new OpenApiSource.Selection(List.of(), List.of(), List.of(), List.of());
    return ApiReader.read(
        new OpenApiSource(
            from,
            server,
            servers,
            new HttpAccess(Map.of(), null),
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

  static JsonNode json(String singleQuoted) {
    try {
      return Json.mapper().readTree(singleQuoted.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new AssertionError(singleQuoted, e);
    }
  }

  /** By the meta-schema of 2020-12, and with every reference leading somewhere. */
  static void assertValid(JsonNode schema) {
    assertEquals(List.of(), META.validate(schema).stream().map(Object::toString).toList());
    for (JsonNode reference : schema.findValues("$ref")) {
      if (reference.isTextual()) {
        String pointer = reference.asText().substring(1);
        if (schema.at(pointer).isMissingNode()) {
          throw new AssertionError("it refers to nothing: " + reference);
        }
      }
    }
  }
}
