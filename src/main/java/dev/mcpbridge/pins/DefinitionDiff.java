package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a definition says that the approved one did not say, for a person who decides about it.
 * Hidden characters are written as escapes. Immutable.
 *
 * @param findings what to look at first
 * @param differences in the order of the canonical form
 * @param isWhole whether these are all differences
 */
public record DefinitionDiff(Set<Finding> findings, List<Difference> differences, boolean isWhole) {
  private static final int MAX_DIFFERENCES = 500;

  /** The hints that make a tool look safer if they have these values (MCP, ToolAnnotations). */
  private static final Map<String, Boolean> SAFE =
      Map.of(
          "readOnlyHint", true,
          "destructiveHint", false,
          "idempotentHint", true,
          "openWorldHint", false);

  /** What a definition has that may deceive its reader. */
  public enum Finding {
    NEW,
    TEXT_CHANGED,
    ARGUMENT_ADDED,
    SCHEMA_CHANGED,
    /** It accepts more than the approved one. */
    SCHEMA_WIDENED,
    /** A hint claims that the tool is safer than it was. */
    ANNOTATION_WEAKENED,
    ANNOTATION_CHANGED,
    HIDDEN_CHARACTERS,
    /** The approved definition was too large to be kept. */
    NOT_KEPT;

    /** The value in the API. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * One difference.
   *
   * @param at JSON pointer (RFC 6901) in the definition
   * @param before the approved value, a text or JSON; null if there was none
   * @param after the present value; null if it is gone
   */
  public record Difference(String at, String before, String after) {}

  /** What differs; a new definition differs from an empty one. */
  public static DefinitionDiff of(Judgement judgement) {
    DigestVersion version = DigestVersion.ALL.get(0);
    JsonNode after = tree(version.canonical(judgement.name().kind(), judgement.current()));
    Pin pin = judgement.pin();
    boolean isKept = pin != null && pin.definition() != null;
    JsonNode before = isKept ? tree(pin.definition()) : Json.object();
    Collector collector = new Collector();
    collector.compare("", before, after);
    if (pin == null) {
      collector.findings.add(Finding.NEW);
    } else if (!isKept) {
      collector.findings.add(Finding.NOT_KEPT);
    } else {
      collector.judge(before, after);
    }
    if (!HiddenCharacters.in(judgement.current()).isEmpty()) {
      collector.findings.add(Finding.HIDDEN_CHARACTERS);
    }
    return new DefinitionDiff(
        collector.findings, List.copyOf(collector.differences), !collector.isCut);
  }

  private static JsonNode tree(JsonSlice canonical) {
    try {
      return Json.exactTree(canonical);
    } catch (IOException ambiguous) {
      return Json.object().textNode(canonical.text());
    }
  }

  private static final class Collector {
    final Set<Finding> findings = new TreeSet<>();
    final List<Difference> differences = new ArrayList<>();
    boolean isCut;

    void compare(String at, JsonNode before, JsonNode after) {
      if (before.equals(after)) {
        return;
      }
      boolean isContainer = before.isObject() && after.isObject();
      if (isContainer) {
        Set<String> names = new TreeSet<>();
        before.fieldNames().forEachRemaining(names::add);
        after.fieldNames().forEachRemaining(names::add);
        names.forEach(
            name -> compare(at + "/" + escaped(name), before.path(name), after.path(name)));
      } else if (before.isArray() && after.isArray() && before.size() == after.size()) {
        for (int i = 0; i < before.size(); i++) {
          compare(at + "/" + i, before.get(i), after.get(i));
        }
      } else if (differences.size() < MAX_DIFFERENCES) {
        differences.add(new Difference(at, shown(before), shown(after)));
      } else {
        isCut = true;
      }
    }

    private static String escaped(String name) {
      return HiddenCharacters.escaped(name).replace("~", "~0").replace("/", "~1");
    }

    private static String shown(JsonNode value) {
      return value.isMissingNode()
          ? null
          : HiddenCharacters.escaped(value.isTextual() ? value.textValue() : value.toString());
    }

    void judge(JsonNode before, JsonNode after) {
      for (String text : List.of("title", "description", "instructions", "arguments", "mimeType")) {
        if (!before.path(text).equals(after.path(text))) {
          findings.add(Finding.TEXT_CHANGED);
        }
      }
      judgeAnnotations(before.path("annotations"), after.path("annotations"));
      judgeSchema(before.path("inputSchema"), after.path("inputSchema"));
      if (!before.path("outputSchema").equals(after.path("outputSchema"))) {
        findings.add(Finding.SCHEMA_CHANGED);
      }
    }

    private void judgeAnnotations(JsonNode before, JsonNode after) {
      if (before.equals(after)) {
        return;
      }
      findings.add(Finding.ANNOTATION_CHANGED);
      SAFE.forEach(
          (hint, safe) -> {
            boolean was = before.path(hint).asBoolean(!safe);
            boolean is = after.path(hint).asBoolean(!safe);
            if (was != safe && is == safe) {
              findings.add(Finding.ANNOTATION_WEAKENED);
            }
          });
    }

    /** Compares the schemas of arguments, nested ones included. */
    private void judgeSchema(JsonNode before, JsonNode after) {
      if (before.equals(after)) {
        return;
      }
      findings.add(Finding.SCHEMA_CHANGED);
      for (Map.Entry<String, JsonNode> property : after.path("properties").properties()) {
        JsonNode earlier = before.path("properties").path(property.getKey());
        if (earlier.isMissingNode()) {
          findings.add(Finding.ARGUMENT_ADDED);
        } else {
          judgeSchema(earlier, property.getValue());
        }
      }
      boolean isWidened =
          lacks(after.path("required"), before.path("required"))
              || lacks(before.path("type"), after.path("type"))
              || before.has("enum") && lacks(before.path("enum"), after.path("enum"))
              || before.has("enum") && !after.has("enum")
              || isOpen(after) && !isOpen(before)
              || isLoosened(before, after);
      if (isWidened) {
        findings.add(Finding.SCHEMA_WIDENED);
      }
    }

    /** Whether a list, or a single value, lacks an element of another. */
    private static boolean lacks(JsonNode list, JsonNode other) {
      List<JsonNode> elements = elements(list);
      return elements(other).stream().anyMatch(element -> !elements.contains(element));
    }

    private static List<JsonNode> elements(JsonNode value) {
      return value.isArray()
          ? value.valueStream().toList()
          : value.isMissingNode() ? List.of() : List.of(value);
    }

    private static boolean isOpen(JsonNode schema) {
      JsonNode more = schema.path("additionalProperties");
      return more instanceof MissingNode || more.asBoolean(false);
    }

    /** Whether a bound is gone or further away. */
    private static boolean isLoosened(JsonNode before, JsonNode after) {
      for (String upper : List.of("maximum", "maxLength", "maxItems", "exclusiveMaximum")) {
        if (before.path(upper).isNumber()
            && (!after.path(upper).isNumber()
                || after.path(upper).doubleValue() > before.path(upper).doubleValue())) {
          return true;
        }
      }
      for (String lower : List.of("minimum", "minLength", "minItems", "exclusiveMinimum")) {
        if (before.path(lower).isNumber()
            && (!after.path(lower).isNumber()
                || after.path(lower).doubleValue() < before.path(lower).doubleValue())) {
          return true;
        }
      }
      return before.has("pattern") && !after.has("pattern");
    }
  }
}
