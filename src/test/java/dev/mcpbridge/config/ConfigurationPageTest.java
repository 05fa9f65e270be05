package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Checks that the tables of keys in {@code configuration.md} match the schema. {@code mvn test
 * -Dtest=ConfigurationPageTest -Dpages.write=true} regenerates them.
 */
class ConfigurationPageTest {
  private static final Path PAGE = Path.of("src/docs/configuration.md");
  private static final String BEGIN = "<!-- keys of the schema -->\n";
  private static final String END = "<!-- end of the keys -->";

  @Test
  void tablesOfThePageMatchTheSchema() throws Exception {
    JsonNode schema = Json.tree(Files.readString(Path.of("conf/bridge.schema.json")));
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    String tables = tables(schema);
    if (Boolean.getBoolean("pages.write")) {
      Files.writeString(PAGE, page.substring(0, begin) + tables + page.substring(end));
      return;
    }

    assertEquals(tables, page.substring(begin, end));
  }

  private static String tables(JsonNode schema) {
    StringBuilder page = new StringBuilder();
    List<String> topLevel = new ArrayList<>();
    schema
        .path("properties")
        .properties()
        .forEach(
            section -> {
              JsonNode items = section.getValue().path("items");
              if (section.getValue().has("properties") || items.has("properties")) {
                List<String> rows = new ArrayList<>();
                rows("", items.has("properties") ? items : section.getValue(), rows);
                table("`" + section.getKey() + "`", section.getValue(), rows, page);
              } else if (!section.getKey().equals("$schema")) {
                topLevel.add(row(section.getKey(), section.getValue()));
              }
            });
    JsonNode entry = schema.path("$defs").path("entry");
    List<String> rows = new ArrayList<>();
    rows("", entry, rows);
    table("An entry of `mcpServers`", entry, rows, page);
    JsonNode condition = schema.path("$defs").path("condition");
    List<String> operators = new ArrayList<>();
    rows("", condition, operators);
    table("A condition of a rule in `access`", condition, operators, page);
    List<String> credentials = new ArrayList<>();
    for (JsonNode kind : schema.path("$defs").path("credential").path("oneOf")) {
      String type = kind.path("properties").path("type").path("const").asText();
      rows(type + ": ", kind, credentials);
    }
    credentials.removeIf(row -> row.contains("The kind of credential"));
    table("`auth` of an entry", schema.path("$defs").path("credential"), credentials, page);
    return "\n| key | type, bounds | default | meaning |\n|---|---|---|---|\n"
        + String.join("", topLevel)
        + page;
  }

  private static void table(String title, JsonNode schema, List<String> rows, StringBuilder page) {
    page.append("\n### ").append(title).append("\n\n");
    page.append(schema.path("description").asText()).append("\n\n");
    page.append("| key | type, bounds | default | meaning |\n|---|---|---|---|\n");
    rows.forEach(page::append);
  }

  private static void rows(String prefix, JsonNode object, List<String> rows) {
    object
        .path("properties")
        .properties()
        .forEach(
            key -> {
              rows.add(row(prefix + key.getKey(), key.getValue()));
              rows(prefix + key.getKey() + ".", key.getValue(), rows);
              JsonNode items = key.getValue().path("items");
              rows(prefix + key.getKey() + "[].", items, rows);
              JsonNode named = key.getValue().path("additionalProperties");
              rows(prefix + key.getKey() + ".NAME.", named, rows);
            });
  }

  private static String any(JsonNode types) {
    if (types.size() > 2) {
      return "any value";
    }
    return types.get(0).asText().equals("string") ? "string or list" : "object or list";
  }

  private static String row(String key, JsonNode schema) {
    return "| `%s` | %s | %s | %s |%n"
        .formatted(key, type(schema), value(schema.path("default")), meaning(schema));
  }

  private static String meaning(JsonNode schema) {
    return schema.path("description").asText().replace("|", "\\|");
  }

  private static String value(JsonNode value) {
    return value.isMissingNode() ? "" : "`" + value.toString().replace("\"", "") + "`";
  }

  private static String type(JsonNode schema) {
    String unit = schema.path("unit").asText();
    if (schema.path("type").isArray() && unit.equals("bytes")) {
      return "size: bytes, or with `k`, `m`, `g`";
    }
    if (schema.has("enum")) {
      List<String> values = new ArrayList<>();
      schema.get("enum").forEach(value -> values.add("`" + value.asText() + "`"));
      return String.join(", ", values);
    }
    String type =
        schema.path("type").isArray() ? any(schema.path("type")) : schema.path("type").asText();
    if (schema.has("$ref")) {
      return "condition";
    }
    String range =
        schema.has("minimum")
            ? " " + schema.get("minimum") + " to " + schema.path("maximum")
            : schema.has("maxItems") ? ", at most " + schema.get("maxItems") : "";
    return switch (type) {
      case "array" -> "list" + range;
      case "number", "integer" -> (unit.isEmpty() ? type : unit) + range;
      default -> type;
    };
  }
}
