package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import java.util.List;

/** Validates JSON Schema 2020-12 with a library. */
public final class Validator {
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDialect(
          Dialects.getDraft202012(),
          builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)));
  private static final Schema META =
      REGISTRY.getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"));

  private Validator() {}

  /** Violations of the meta-schema. */
  public static List<String> schemaErrors(JsonNode schema) {
    return META.validate(schema).stream().map(Object::toString).toList();
  }

  static List<String> errors(JsonNode schema, JsonNode instance) {
    return REGISTRY.getSchema(schema).validate(instance).stream().map(Object::toString).toList();
  }
}
