package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.Json;
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

  private static final List<String> TEXTS =
      List.of(
          "name", "title", "description", "instructions", "arguments", "mimeType", "uriTemplate");

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
    JsonNode after =
        DigestVersion.tree(version.canonical(judgement.name().kind(), judgement.current()));
    Pin pin = judgement.pin();
    boolean isKept = pin != null && pin.definition() != null;
    JsonNode before = isKept ? DigestVersion.tree(pin.definition()) : Json.object();
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

  private static final class Collector {
    final Set<Finding> findings = new TreeSet<>();
    final List<Difference> differences = new ArrayList<>();
    boolean isCut;

    void compare(String at, JsonNode before, JsonNode after) {
      if (isSame(before, after)) {
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
        differences.add(new Difference(at, shown(before, after), shown(after, before)));
      } else {
        isCut = true;
      }
    }

    private static String escaped(String name) {
      return HiddenCharacters.visible(name).replace("~", "~0").replace("/", "~1");
    }

    /** A text as it is, but as JSON beside a value of another type: "5" differs from 5. */
    private static String shown(JsonNode value, JsonNode other) {
      boolean isPlain = value.isTextual() && (other.isTextual() || other.isMissingNode());
      return value.isMissingNode()
          ? null
          : HiddenCharacters.visible(isPlain ? value.textValue() : value.toString());
    }

    /** Numbers are the same if they are written alike. */
    private static boolean isSame(JsonNode before, JsonNode after) {
      return before.equals(after) && before.toString().equals(after.toString());
    }

    void judge(JsonNode before, JsonNode after) {
      for (String text : TEXTS) {
        if (!before.path(text).equals(after.path(text))) {
          findings.add(Finding.TEXT_CHANGED);
        }
      }
      judgeAnnotations(before.path("annotations"), after.path("annotations"));
      SchemaComparison.compare(before.path("inputSchema"), after.path("inputSchema"), findings);
      if (!isSame(before.path("outputSchema"), after.path("outputSchema"))) {
        findings.add(Finding.SCHEMA_CHANGED);
      }
      if (findings.isEmpty()) {
        findings.add(Finding.TEXT_CHANGED);
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
  }
}
