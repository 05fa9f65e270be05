package dev.mcpbridge.http.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolLocation;
import dev.mcpbridge.dialect.SchemaDialect;
import dev.mcpbridge.dialect.Schemas;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.PercentEncoding;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An OpenAPI 3.1 document with one operation for each tool of a catalogue. The shared components
 * are those of the bridge's own document. Blocking.
 */
final class ToolDocument {
  private static final String CONTRACT = "/dev/mcpbridge/http/openapi.json";
  private static final List<String> SHARED = List.of("Problem", "ToolResult", "Confirmation");
  private static final String SCHEMAS = "#/components/schemas/";

  private final ObjectNode document;
  private final ObjectNode schemas;

  /** Name of the profile; null without one. */
  private final String profile;

  private ToolDocument(String profile) {
    this.profile = profile;
    try (InputStream in = ToolDocument.class.getResourceAsStream(CONTRACT)) {
      this.document = (ObjectNode) Json.tree(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.schemas = (ObjectNode) document.at("/components/schemas");
    schemas.retain(SHARED);
    document.putObject("paths");
    document.remove("tags");
  }

  /**
   * @param title title of the document
   * @param server base URL of the bridge as seen by the client
   */
  static JsonSlice of(ToolCatalogue toolCatalogue, String title, String server) {
    ToolDocument built = new ToolDocument(toolCatalogue.profile().map(Profile::name).orElse(null));
    built.document.putObject("info").put("title", title).put("version", toolCatalogue.digest());
    built.document.putArray("servers").addObject().put("url", server);
    toolCatalogue.toolsByName().forEach(built::add);
    return Json.slice(built.document);
  }

  private void add(String name, ToolLocation toolLocation) {
    Tool tool = toolLocation.tool();
    String id = componentName(name);
    ObjectNode operation =
        ((ObjectNode) document.get("paths")).putObject(path(name, toolLocation)).putObject("post");
    operation.put("operationId", name);
    if (!tool.title().isEmpty()) {
      operation.put("summary", tool.title());
    }
    operation.put("description", tool.description() + risk(toolLocation));
    operation.putArray("tags").add(toolLocation.server().id().name());
    component(id + ".input", tool.inputSchema());
    operation
        .putObject("requestBody")
        .put("required", true)
        .putObject("content")
        .putObject("application/json")
        .putObject("schema")
        .put("$ref", SCHEMAS + id + ".input");
    responses(operation, id, tool);
  }

  /** The confirmation is listed first, since some generated clients try the types in order. */
  private void responses(ObjectNode operation, String id, Tool tool) {
    ObjectNode responses = operation.putObject("responses");
    ObjectNode done = responses.putObject("200");
    done.put("description", "The result, or the confirmation that is required first");
    ArrayNode either = schemaOf(done).putArray("anyOf");
    either.addObject().put("$ref", SCHEMAS + "Confirmation");
    either.addObject().put("$ref", SCHEMAS + result(id, tool));
    ObjectNode pending = responses.putObject("202");
    pending.put("description", "A required confirmation, if the bridge is configured to use 202");
    schemaOf(pending).put("$ref", SCHEMAS + "Confirmation");
    ObjectNode problem = responses.putObject("default");
    problem.put("description", "A problem document (RFC 9457)");
    problem
        .putObject("content")
        .putObject("application/problem+json")
        .putObject("schema")
        .put("$ref", SCHEMAS + "Problem");
  }

  /** One component per result: generators create no type for an allOf with several members. */
  private String result(String id, Tool tool) {
    if (tool.outputSchema() == null) {
      return "ToolResult";
    }
    component(id + ".output", tool.outputSchema());
    ObjectNode typed = schemas.get("ToolResult").deepCopy();
    typed
        .withObject("/properties/structuredContent")
        .removeAll()
        .put("$ref", SCHEMAS + id + ".output");
    schemas.set(id + ".result", typed);
    return id + ".result";
  }

  private static ObjectNode schemaOf(ObjectNode response) {
    return response.putObject("content").putObject("application/json").putObject("schema");
  }

  /**
   * Adds a schema as a component and rewrites its references. Its definitions become components
   * too: generators mistake {@code $defs} within a schema for a property.
   */
  private void component(String name, JsonSlice schema) {
    try {
      JsonNode tree = schema == null ? null : Json.exactTree(schema);
      ObjectNode reduced = SchemaDialect.JSON_SCHEMA.reduce(tree).schema();
      Map<String, String> moved = new HashMap<>();
      List<ObjectNode> parts = new ArrayList<>(List.of(reduced));
      schemas.set(name, reduced);
      for (String keyword : List.of("$defs", "definitions")) {
        if (reduced.path(keyword).isObject()) {
          for (Map.Entry<String, JsonNode> each : reduced.remove(keyword).properties()) {
            String id = unique(name + "." + sanitized(each.getKey()), "");
            schemas.set(id, each.getValue());
            moved.put(keyword + "/" + each.getKey(), SCHEMAS + id);
            if (each.getValue() instanceof ObjectNode part) {
              parts.add(part);
            }
          }
        }
      }
      for (ObjectNode part : parts) {
        Schemas.each(part, (location, each) -> rebase(each, SCHEMAS + name, moved));
      }
    } catch (IOException e) {
      schemas.putObject(name).put("type", "object");
    }
  }

  /**
   * Rewrites the reference of a schema to the current place of its target.
   *
   * @param base reference to the component
   * @param moved new references of its definitions, by keyword and name
   */
  private static void rebase(ObjectNode schema, String base, Map<String, String> moved) {
    if (schema.has("$ref")) {
      String reference = schema.get("$ref").textValue();
      String[] steps = reference.split("/", 4);
      String target = steps.length > 2 ? moved.get(steps[1] + "/" + decoded(steps[2])) : null;
      if (target == null) {
        target = base + reference.substring(1);
      } else if (steps.length > 3) {
        target += "/" + steps[3];
      }
      schema.put("$ref", target);
    }
  }

  /** Decodes a reference token (RFC 6901 sections 4 and 6). */
  private static String decoded(String step) {
    return URLDecoder.decode(step.replace("+", "%2B"), StandardCharsets.UTF_8)
        .replace("~1", "/")
        .replace("~0", "~");
  }

  private static String risk(ToolLocation toolLocation) {
    Optional<RiskLevel> own =
        toolLocation.server().risk().specificLevel(Target.tool(toolLocation.name()));
    RiskLevel level = own.orElse(toolLocation.server().risk().server());
    return level == null ? "" : "\n\n" + level.description() + ".";
  }

  private String path(String name, ToolLocation toolLocation) {
    return profile == null
        ? "/servers/"
            + PercentEncoding.encoded(toolLocation.server().id().name())
            + "/tools/"
            + PercentEncoding.encoded(toolLocation.name())
        : "/profiles/" + profile + "/tools/" + PercentEncoding.encoded(name);
  }

  /** A unique component name of the permitted characters (OpenAPI 3.1 section 4.8.7). */
  private String componentName(String name) {
    return unique(sanitized(name), ".input");
  }

  private static String sanitized(String name) {
    return name.replaceAll("[^A-Za-z0-9_-]", "_");
  }

  private String unique(String name, String suffix) {
    String unique = name;
    for (int i = 2; schemas.has(unique + suffix); i++) {
      unique = name + "_" + i;
    }
    return unique;
  }
}
